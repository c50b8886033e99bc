import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { mailedToken, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createPasswordStrength } from "#server/threads/password-strength";

const GOOD = "correct horse battery";
const EASY = "password1234";

const strength = createPasswordStrength(systemClock);
let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime({ strength });
});
afterAll(async () => {
  await strength.close();
  await t.close();
});

const refused = failed("invalid_parameter", { parameter: "password", detail: expect.stringContaining("easy to guess") });

test("a common password is refused at sign-up, change and reset, with what is wrong with it", async () => {
  const email = "ada.lovelace@example.com";
  const browser = portalBrowser();
  const signUpWith = (password: string) => portalBrowser().send("POST /sign-up", { body: { email, password } });
  expect(await signUpWith(EASY)).toMatchObject(
    failed("invalid_parameter", {
      parameter: "password",
      detail: expect.stringMatching(/^This password is easy to guess\. This is similar to a commonly used password\. /),
    }),
  );
  expect(await t.db.prisma.user.count({ where: { email } })).toBe(0);
  await browser.send("POST /sign-up", { body: { email, password: GOOD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  await browser.signIn(email, GOOD);
  expect(await browser.send("POST /password", { body: { current: GOOD, password: EASY } })).toMatchObject(refused);
  await t.clock.advance(60_000);
  const token = await tokenMailedBy(t.capturedMails, email, () => browser.send("POST /forgot", { body: { email } }));
  expect(await browser.send("POST /reset", { body: { token, password: EASY } })).toMatchObject(refused);
  // A refused password does not use up the link.
  expect((await browser.send("POST /reset", { body: { token, password: `${GOOD} staple` } })).status).toBe(200);
});

test("a password that was breached often is refused, although nothing else gives it away", async () => {
  const body = { email: "seneca@example.com", password: "Perasperaadastra" };
  const detail = "This password is easy to guess. It is among the most common passwords that became public in breaches.";
  expect(await portalBrowser().send("POST /sign-up", { body })).toMatchObject(
    failed("invalid_parameter", { parameter: "password", detail }),
  );
  expect((await strength.rate("perasperaadastre", {})).score).toBeGreaterThanOrEqual(3);
});

test.each([
  ["repetitions", "abcabcabcabcabc"],
  ["a keyboard row", "qwertyuiopasdfgh"],
  ["letters written as digits", "p4ssw0rd1234"],
  ["the address", "grace.hopper@navy.example"],
  ["the name", "gracehopper1"],
  ["the product", "spotwirespotwire"],
])("a password of %s is easy to guess", async (_, password) => {
  const owner = { email: "grace.hopper@navy.example", name: "Grace Hopper" };
  expect((await strength.rate(password, owner)).score).toBeLessThan(3);
});

test.each(["x7Kq9mTz2Lw4", "correct horse battery", "Straße über Brücken 東京"])("%s is hard to guess", async (password) => {
  expect((await strength.rate(password, {})).score).toBeGreaterThanOrEqual(3);
});

test("the form learns how a password is rated while it is typed, at a limited rate", async () => {
  const browser = portalBrowser();
  const ask = (password: string) => browser.send("POST /password/strength", { body: { password, email: "x@example.com" } });
  expect((await ask(EASY)).body.data).toEqual({ score: 1, accepted: false, advice: expect.stringContaining("common") });
  expect((await ask(GOOD)).body.data).toMatchObject({ accepted: true });
  const many = await Promise.all(Array.from({ length: 30 }, () => ask("aaaaaaaaaaaa")));
  expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200, 429]));
});

test("the longest awkward passwords are rated, and more than may wait are refused", async () => {
  const small = createPasswordStrength(systemClock, 2);
  const awkward = "4@8({[</369&#!1/|0$5+7%2".repeat(10).slice(0, 200);
  const waiting = [small.rate(awkward, {}), small.rate("$".repeat(200), {})];
  await expect(small.rate(GOOD, {})).rejects.toMatchObject({ id: "rate_limited", data: { retry_after: 2 } });
  for (const { score } of await Promise.all(waiting)) expect(score).toBeLessThanOrEqual(4);
  await small.close();
});
