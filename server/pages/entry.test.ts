import { afterAll, beforeAll, expect, test } from "vitest";
import { ENTRY_LIFETIME_S } from "#lib/contract/second-factor";
import { SECOND_MS } from "#lib/units";
import { mailedToken, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const signedIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;

/** Signs up in this browser; resolves with the address and the token of the link in its mail. */
async function signUpIn(browser: PortalBrowser) {
  const email = `entry${++people}@example.com`;
  expect((await browser.send("POST /sign-up", { body: { email, password: PASSWORD } })).status).toBe(200);
  return { email, token: mailedToken(t.capturedMails, email) };
}

/** Opens the link in this browser; resolves with what the browser may do next. */
async function open(browser: PortalBrowser, token: string, password?: string): Promise<string> {
  const { status, body } = await browser.send("POST /verify", { body: { token, ...(password !== undefined && { password }) } });
  expect(status).toBe(200);
  return (body as { data: { entry: string } }).data.entry;
}

test("the browser that verifies an address is signed in once, and may create a key at once", async () => {
  const [me, copy] = [portalBrowser(), portalBrowser()];
  const { token } = await signUpIn(me);
  expect(await open(me, token)).toBe("ready");
  copy.cookies.set("spotwire.entry", me.cookies.get("spotwire.entry") ?? "");
  expect(await signedIn(me)).toBe(false);
  expect(await me.signInBy("entry")).toBeNull();
  expect(await signedIn(me)).toBe(true);
  expect(me.cookies.has("spotwire.entry")).toBe(false);
  expect(await copy.signInBy("entry")).toBe("step_expired");
  expect(await signedIn(copy)).toBe(false);
  const key = { name: "First", venue: "sandbox", scopes: ["market:read"], origins: [] };
  expect((await me.send("POST /keys", { body: key })).status).toBe(200);
});

test("another browser is signed in when it gives the password of the sign-up", async () => {
  const elsewhere = portalBrowser();
  const { token } = await signUpIn(portalBrowser());
  expect((await elsewhere.send("POST /verify", { body: { token } })).status).toBe(400);
  expect(await elsewhere.signInBy("entry")).toBe("step_expired");
  expect(await open(elsewhere, token, PASSWORD)).toBe("ready");
  expect(await elsewhere.signInBy("entry")).toBeNull();
});

test("a browser that waits for longer than a minute is not signed in", async () => {
  const me = portalBrowser();
  const { token } = await signUpIn(me);
  await open(me, token);
  await t.clock.advance(ENTRY_LIFETIME_S * SECOND_MS);
  expect(await me.signInBy("entry")).toBe("step_expired");
});

test("a new password voids the entry", async () => {
  const me = portalBrowser();
  const { email, token } = await signUpIn(me);
  await open(me, token);
  const link = await tokenMailedBy(t.capturedMails, email, () => portalBrowser().send("POST /forgot", { body: { email } }));
  expect((await portalBrowser().send("POST /reset", { body: { token: link, password: `${PASSWORD} staple` } })).status).toBe(200);
  expect(await me.signInBy("entry")).toBe("step_expired");
});

test("a user with a second factor is asked for it, before the entry is made and after", async () => {
  const [first, second] = [portalBrowser(), portalBrowser()];
  const addApp = (email: string) => t.db.prisma.user.update({ where: { email }, data: { totpSince: new Date(t.clock.now()) } });
  const before = await signUpIn(first);
  await addApp(before.email);
  expect(await open(first, before.token)).toBe("second_factor");
  expect(first.cookies.has("spotwire.entry")).toBe(false);
  expect(await first.signInBy("code", "000000")).toBe("wrong_code");
  const after = await signUpIn(second);
  expect(await open(second, after.token)).toBe("ready");
  await addApp(after.email);
  expect(await second.signInBy("entry")).toBe("second_factor");
  expect(await signedIn(second)).toBe(false);
});

test("a browser that is signed in stays so: as the same user, or as somebody else", async () => {
  const [me, other] = [portalBrowser(), portalBrowser()];
  const mine = await signUpIn(me);
  await me.signIn(mine.email, PASSWORD);
  expect(await open(me, mine.token)).toBe("signed_in");
  const first = await signUpIn(other);
  await open(other, first.token);
  await other.signInBy("entry");
  const second = await signUpIn(other);
  expect(await open(other, second.token)).toBe("none");
  expect(await other.signInBy("entry")).toBe("step_expired");
});

test("a link that changes an address lets nobody in", async () => {
  const me = portalBrowser();
  const { email, token } = await signUpIn(me);
  await open(me, token);
  await me.signInBy("entry");
  const next = `new-${email}`;
  const change = await tokenMailedBy(t.capturedMails, next, () => me.send("POST /email", { body: { email: next } }));
  expect(await open(me, change)).toBe("none");
});
