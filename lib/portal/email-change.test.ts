import { afterAll, beforeAll, expect, test } from "vitest";
import { POST as cancel } from "#app/api/portal/email/cancel/route";
import { POST as changeEmail } from "#app/api/portal/email/route";
import { POST as changePassword } from "#app/api/portal/password/route";
import { GET as sessions, DELETE as signOutEverywhere } from "#app/api/portal/sessions/route";
import { POST as signUp } from "#app/api/portal/sign-up/route";
import { POST as verify } from "#app/api/portal/verify/route";
import { mailedToken, type PortalBrowser, portalBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const OTHER = "another long password";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const newEmail = () => `changing${++people}@example.com`;
const signedIn = async (browser: PortalBrowser) => (await browser.send(sessions, { method: "GET" })).status === 200;
const linkTo = (email: string) => ({ body: { token: mailedToken(t.capturedMails, email) } });

/** An owner, and a thief who knows the password and has asked to change the address to their own. */
async function theft() {
  const [email, loot] = [newEmail(), newEmail()];
  const owner = portalBrowser();
  await owner.send(signUp, { body: { email, password: PASSWORD } });
  await owner.send(verify, linkTo(email));
  await owner.signIn(email, PASSWORD);
  const thief = portalBrowser();
  await thief.signIn(email, PASSWORD);
  expect((await thief.send(changeEmail, { body: { current: PASSWORD, email: loot } })).status).toBe(200);
  return { email, loot, owner, thief };
}

test.each([
  ["a password change", (owner: PortalBrowser) => owner.send(changePassword, { body: { current: PASSWORD, password: OTHER } })],
  ["signing out everywhere", (owner: PortalBrowser) => owner.send(signOutEverywhere, { method: "DELETE" })],
] as const)("%s voids the link of a pending change of email", async (_, recover) => {
  const { email, loot, owner, thief } = await theft();
  expect((await recover(owner)).status).toBe(200);
  expect(await thief.send(verify, linkTo(loot))).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
  expect(await t.db.prisma.user.count({ where: { email } })).toBe(1);
});

test("the old address gets an email when a change of email is requested, and its link cancels the change and ends every session", async () => {
  const { email, loot, owner, thief } = await theft();
  const notice = t.capturedMails.list().find((mail) => mail.to === email);
  expect(notice).toMatchObject({ subject: "Your email address is about to change", text: expect.stringContaining(loot) });
  const link = linkTo(email);
  const [canceled, again] = [await portalBrowser().send(cancel, link), await portalBrowser().send(cancel, link)];
  expect(canceled.body.data).toEqual({ email });
  expect(again).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
  expect(await thief.send(verify, linkTo(loot))).toMatchObject({ status: 400 });
  expect([await signedIn(owner), await signedIn(thief)]).toEqual([false, false]);
});

test("the old address gets the same email when the new one is taken", async () => {
  const { email: taken } = await theft();
  const { email, owner } = await theft();
  await t.clock.advance(60_000);
  await owner.send(changeEmail, { body: { current: PASSWORD, email: taken } });
  expect(t.capturedMails.list().find((mail) => mail.to === email)?.text).toContain(taken);
});

test("the link that cancels a change works for nothing else, and not after the change", async () => {
  const { email, loot, thief } = await theft();
  const link = linkTo(email);
  expect(await portalBrowser().send(verify, link)).toMatchObject({ status: 400 });
  expect((await thief.send(verify, linkTo(loot))).status).toBe(200);
  expect(await portalBrowser().send(cancel, link)).toMatchObject({ status: 400 });
});
