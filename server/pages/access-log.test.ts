import { afterAll, beforeAll, expect, test } from "vitest";
import { mailedToken, portalBrowser } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { portalApi } from "./api";

/** Entries of strangers are stored off the request. */
const STORED = { timeout: 60_000 };
const PASSWORD = "correct horse battery";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

async function member() {
  const email = `watched${++people}@example.com`;
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  const { id, accountId } = await t.db.prisma.user.findUniqueOrThrow({ where: { email } });
  return { email, browser, id, accountId };
}

const trail = (where: object) =>
  t.db.prisma.auditEntry.findMany({ where: { action: { startsWith: "access." }, ...where }, orderBy: { id: "asc" } });
const mailsTo = (email: string) => t.capturedMails.list().filter(({ to }) => to === email);
const subjects = (email: string) => mailsTo(email).map(({ subject }) => subject);

test("sign-ins, failures, sign-outs and ended sessions are in the audit log of the account, with the address", async () => {
  const { email, browser, accountId } = await member();
  const other = portalBrowser();
  expect(await other.signIn(email, "not the password")).toBe("CredentialsSignin");
  await expect.poll(async () => (await trail({ accountId })).length, STORED).toBe(2);
  await other.signIn(email, PASSWORD);
  const { items } = (await browser.send("GET /sessions")).body.data;
  const { id } = items.find(({ current }: { current: boolean }) => !current);
  await browser.send("DELETE /sessions/[id]", { params: { id } });
  await browser.auth("signout", { csrfToken: await browser.csrfToken() });
  const entries = await trail({ accountId });
  expect(entries.map(({ action, actor, address, after }) => ({ action, actor, address, after }))).toEqual([
    { action: "access.sign_in", actor: email, address: browser.address, after: { method: "password", browser: "unknown" } },
    { action: "access.sign_in_failed", actor: "not signed in", address: other.address, after: { reason: "wrong password" } },
    { action: "access.sign_in", actor: email, address: other.address, after: { method: "password", browser: "unknown" } },
    { action: "access.revoke_session", actor: email, address: browser.address, after: null },
    { action: "access.sign_out", actor: email, address: browser.address, after: null },
  ]);
});

test("a failed sign-in with an unknown address is recorded without what was typed", async () => {
  const stranger = portalBrowser();
  await stranger.signIn("my-secret-password@example.com", PASSWORD);
  await expect
    .poll(() => trail({ address: stranger.address }), STORED)
    .toMatchObject([{ action: "access.sign_in_failed", target: "unknown address", accountId: null }]);
  expect(JSON.stringify(await trail({}))).not.toContain("my-secret-password");
});

test("a user who asks for an operator's page is recorded", async () => {
  const { browser, accountId, email } = await member();
  expect((await browser.send("GET /admin/accounts")).status).toBe(404);
  await expect
    .poll(() => trail({ accountId, action: "access.denied" }), STORED)
    .toMatchObject([{ actor: email, target: "/api/portal/admin/accounts" }]);
});

test("what an operator reads of others is recorded once in a quarter of an hour, and shown to the one it is about", async () => {
  const { browser, email, id } = await member();
  const { accountId, email: subject } = await member();
  await t.db.prisma.user.update({ where: { id }, data: { operator: true, totpSince: new Date(t.clock.now()) } });
  const read = (query: string) =>
    portalApi(new Request(`http://spotwire.test/api/portal/admin/accounts${query}`, { headers: cookiesOf(browser) }));
  for (let time = 0; time < 5; time += 1) expect((await read(`?q=${subject}`)).status).toBe(200);
  expect(await trail({ action: "access.read", actor: email })).toMatchObject([
    { target: "accounts", accountId, after: { accounts: [subject] } },
  ]);
  await browser.send("GET /admin/audit");
  expect((await trail({ action: "access.read", actor: email })).at(-1)).toMatchObject({ target: "audit log", accountId: null });
});
const cookiesOf = ({ cookies }: { cookies: Map<string, string> }) => ({
  host: "spotwire.test",
  cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
});

test("deleting an account leaves its entries until their time is over", async () => {
  const { email, browser, accountId } = await member();
  await browser.send("DELETE /account", { body: { confirm: email } });
  expect(await t.db.prisma.account.count({ where: { id: accountId } })).toBe(0);
  expect(await trail({ accountId })).toHaveLength(1);
});

test("the owner is emailed about a sign-in in a new browser, not about the first one or in a known browser", async () => {
  const { email, browser } = await member();
  await browser.signIn(email, PASSWORD);
  expect(subjects(email)).not.toContain("New sign-in");
  const other = portalBrowser();
  await other.signIn(email, PASSWORD);
  expect(mailsTo(email)[0]).toMatchObject({ subject: "New sign-in" });
  expect(mailsTo(email)[0]?.text).toContain(`Time: 2026-01-07 12:00 UTC\nIP address: ${other.address}\nBrowser: unknown\n`);
  await other.signIn(email, PASSWORD);
  expect(subjects(email).filter((subject) => subject === "New sign-in")).toHaveLength(1);
});

test("at most three such emails are sent in a minute, and none to an address that nobody verified", async () => {
  const { email } = await member();
  const unverified = `squatted${++people}@example.com`;
  await portalBrowser().send("POST /sign-up", { body: { email: unverified, password: PASSWORD } });
  for (let time = 0; time < 5; time += 1) {
    expect(await portalBrowser().signIn(email, PASSWORD)).toBeNull();
    expect(await portalBrowser().signIn(unverified, PASSWORD)).toBeNull();
  }
  expect(subjects(email).filter((subject) => subject === "New sign-in")).toHaveLength(3);
  expect(subjects(unverified)).toEqual(["Verify your email address"]);
});

test("the owner is emailed about each key that is created, rotated and revoked", async () => {
  const { email, browser } = await member();
  const body = { name: "Web shop", venue: "sandbox", scopes: ["market:read"], origins: [] };
  const { key } = (await browser.send("POST /keys", { body })).body.data;
  const params = { id: key.id };
  const { key: next } = (await browser.send("POST /keys/[id]/rotate", { params, body: { grace: "1h" } })).body.data;
  const again = { params: { id: next.id }, body: { confirm: "Web shop" } };
  await browser.send("POST /keys/[id]/revoke", again);
  await browser.send("POST /keys/[id]/revoke", again);
  expect(subjects(email).slice(0, 3)).toEqual(["API key revoked", "API key rotated", "API key created"]);
  expect(mailsTo(email)[0]?.text).toContain('The API key "Web shop" of your Spotwire account was revoked.');
});
