import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createKey } from "#server/store/access/keys";
import { mailedToken, type PortalBrowser, portalBrowser, tokenMailedBy } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const MINE = "correct horse battery";
const THEIRS = "a stranger's password";

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

const newEmail = () => `signing${++people}@example.com`;
const signedIn = async (browser: PortalBrowser) => (await browser.send("GET /sessions")).status === 200;
const newest = (email: string) => mailedToken(t.capturedMails, email);
const userOf = (email: string) => t.db.prisma.user.findUniqueOrThrow({ where: { email } });

/** Signs up in this browser; resolves with the token of the link in the mail. */
async function signUpWith(browser: PortalBrowser, email: string, password: string): Promise<string> {
  // So that the limit of mails to one address lets the next sign-up pass.
  await t.clock.advance(600_000);
  expect((await browser.send("POST /sign-up", { body: { email, password } })).status).toBe(200);
  return newest(email);
}

const open = (browser: PortalBrowser, token: string, password?: string) =>
  browser.send("POST /verify", { body: { token, ...(password !== undefined && { password }) } });

describe("a stranger who signs up with the address of somebody else", () => {
  test("a stranger's sign-up after mine gets no account when I open the newest link, and my own link still works", async () => {
    const [email, me, stranger] = [newEmail(), portalBrowser(), portalBrowser()];
    const mine = await signUpWith(me, email, MINE);
    const theirs = await signUpWith(stranger, email, THEIRS);
    await stranger.signIn(email, THEIRS);
    expect(await open(me, theirs)).toMatchObject(failed("missing_parameter", { parameter: "password" }));
    expect(await open(me, theirs, MINE)).toMatchObject(failed("invalid_parameter", { parameter: "password" }));
    expect(await userOf(email)).toMatchObject({ emailVerifiedAt: null });
    expect((await open(me, mine)).status).toBe(200);
    expect(await signedIn(stranger)).toBe(false);
    expect(await portalBrowser().signIn(email, THEIRS)).toBe("CredentialsSignin");
    expect(await portalBrowser().signIn(email, MINE)).toBeNull();
  });

  test("a stranger's sign-up before mine gets no account when I open either link", async () => {
    const [email, me, stranger] = [newEmail(), portalBrowser(), portalBrowser()];
    const theirs = await signUpWith(stranger, email, THEIRS);
    const mine = await signUpWith(me, email, MINE);
    expect(await open(me, theirs)).toMatchObject({ status: 400 });
    expect((await open(me, mine)).status).toBe(200);
    expect(await open(stranger, theirs)).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
    expect(await portalBrowser().signIn(email, MINE)).toBeNull();
  });

  test("a link that a stranger had sent again verifies nothing in my browser", async () => {
    const [email, me, stranger] = [newEmail(), portalBrowser(), portalBrowser()];
    await signUpWith(me, email, MINE);
    await signUpWith(stranger, email, THEIRS);
    const token = await tokenMailedBy(t.capturedMails, email, () => portalBrowser().send("POST /resend", { body: { email } }));
    expect(await open(me, token, MINE)).toMatchObject(failed("invalid_parameter", { parameter: "password" }));
  });

  test("an account cannot be moved to the mailbox of somebody who opens the link elsewhere", async () => {
    const [email, victim, thief] = [newEmail(), newEmail(), portalBrowser()];
    await open(thief, await signUpWith(thief, email, THEIRS));
    await thief.signIn(email, THEIRS);
    await thief.send("POST /email", { body: { email: victim } });
    expect(await open(portalBrowser(), newest(victim))).toMatchObject(failed("missing_parameter", { parameter: "password" }));
    expect((await open(thief, newest(victim))).status).toBe(200);
  });
});

describe("a verification link", () => {
  test("a link is opened in another browser with the password of its sign-up, which counts as a password attempt", async () => {
    const [email, elsewhere] = [newEmail(), portalBrowser()];
    const token = await signUpWith(portalBrowser(), email, MINE);
    expect(await open(elsewhere, token, "not my password")).toMatchObject(failed("invalid_parameter", { parameter: "password" }));
    expect((await open(elsewhere, token, MINE)).status).toBe(200);
    const other = await signUpWith(portalBrowser(), newEmail(), MINE);
    const guess = () => open(elsewhere, other, "not my password");
    for (let count = 0; count < 5; count += 1) await guess();
    expect(await guess()).toMatchObject(failed("rate_limited"));
  });

  test("a link is opened without the password in another browser that is signed in as its user, and as nobody else", async () => {
    const [email, me, other] = [newEmail(), portalBrowser(), portalBrowser()];
    const token = await signUpWith(portalBrowser(), email, MINE);
    const others = newEmail();
    await open(other, await signUpWith(other, others, MINE));
    await other.signIn(others, MINE);
    expect(await open(other, token)).toMatchObject(failed("missing_parameter", { parameter: "password" }));
    await me.signIn(email, MINE);
    expect((await open(me, token)).status).toBe(200);
    expect(await userOf(email)).toMatchObject({ emailVerifiedAt: expect.any(Date) });
    expect(await signedIn(me)).toBe(true);
  });

  test("the link of a stranger's earlier sign-up needs its password even where I am signed in", async () => {
    const [email, me] = [newEmail(), portalBrowser()];
    const theirs = await signUpWith(portalBrowser(), email, THEIRS);
    await signUpWith(portalBrowser(), email, MINE);
    await me.signIn(email, MINE);
    expect(await open(me, theirs)).toMatchObject(failed("missing_parameter", { parameter: "password" }));
    expect(await userOf(email)).toMatchObject({ emailVerifiedAt: null });
  });

  test("a link sent again belongs to the sign-up of the browser that asks", async () => {
    const [email, me] = [newEmail(), portalBrowser()];
    const first = await signUpWith(me, email, MINE);
    await signUpWith(portalBrowser(), email, THEIRS);
    const again = await tokenMailedBy(t.capturedMails, email, () => me.send("POST /resend", { body: { email } }));
    expect(await open(me, first)).toMatchObject(failed("invalid_parameter", { parameter: "token" }));
    expect((await open(me, again)).status).toBe(200);
    expect(await portalBrowser().signIn(email, MINE)).toBeNull();
  });

  test("verifying ends every session except that of the browser that does it", async () => {
    const [email, me, elsewhere] = [newEmail(), portalBrowser(), portalBrowser()];
    const token = await signUpWith(me, email, MINE);
    for (const browser of [me, elsewhere]) await browser.signIn(email, MINE);
    expect((await open(me, token)).status).toBe(200);
    expect([await signedIn(me), await signedIn(elsewhere)]).toEqual([true, false]);
  });

  test("the cookie of a sign-up is hidden from scripts, ends with the link, and is the same for a taken address", async () => {
    const [email, me] = [newEmail(), portalBrowser()];
    await open(me, await signUpWith(me, email, MINE));
    for (const address of [newEmail(), email]) {
      await t.clock.advance(600_000);
      const { headers } = await portalBrowser().send("POST /sign-up", { body: { email: address, password: MINE } });
      expect(headers.getSetCookie()).toEqual([
        expect.stringMatching(/^spotwire\.link=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Lax$/),
      ]);
    }
  });
});

/** How many statements of a sign-up read and write; those of the upkeep are not Prisma's. */
async function statementsOf(email: string) {
  await t.clock.advance(600_000);
  const query = vi.spyOn(pg.Client.prototype, "query");
  expect((await portalBrowser().send("POST /sign-up", { body: { email, password: THEIRS } })).status).toBe(200);
  const asked = query.mock.calls as unknown as [string | { text: string }][];
  query.mockRestore();
  const own = asked.map(([it]) => (typeof it === "string" ? it : it.text)).filter((text) => text.includes('"public".'));
  const reads = own.filter((text) => text.startsWith("SELECT")).length;
  return { reads, writes: own.length - reads };
}

test("a sign-up runs as many statements for a taken address as for a free one, and its owner reads of it in the audit log", async () => {
  const [verified, unverified, me] = [newEmail(), newEmail(), portalBrowser()];
  await open(me, await signUpWith(me, verified, MINE));
  await signUpWith(me, unverified, MINE);
  const free = await statementsOf(newEmail());
  expect(free.writes).toBe(6);
  expect([await statementsOf(verified), await statementsOf(unverified)]).toEqual([free, free]);
  const { accountId } = await userOf(verified);
  const where = { accountId, action: "account.sign_up_taken" };
  expect(await t.db.prisma.auditEntry.findMany({ where })).toMatchObject([{ actor: "not signed in", target: verified }]);
  expect(await portalBrowser().signIn(verified, MINE)).toBeNull();
});

test("a password reset lists the keys that still work, and revokes them on request", async () => {
  const [email, me] = [newEmail(), portalBrowser()];
  await open(me, await signUpWith(me, email, MINE));
  const { id, accountId } = await userOf(email);
  const settings = { accountId, venue: "sandbox", scopes: ["market:read"], origins: [], expiresAt: null };
  const by = { actor: { id, name: email }, accountId, address: null };
  const { text } = await createKey(t.keyContext, { ...settings, name: "stolen" }, by);
  const link = async () => {
    await t.clock.advance(600_000);
    return tokenMailedBy(t.capturedMails, email, () => me.send("POST /forgot", { body: { email } }));
  };
  const works = async () => (await t.ask("/api/v1/market/instruments", { key: text })).status;
  const kept = await link();
  const offered = async () => (await me.send("POST /reset/access", { body: { token: kept } })).body.data;
  expect(await offered()).toMatchObject({ keys: [{ name: "stolen", state: "active" }] });
  await me.send("POST /reset", { body: { token: kept, password: MINE } });
  await t.settle();
  expect([await works(), await offered()]).toEqual([200, { keys: [], providers: [] }]);
  const body = { token: await link(), password: MINE, revoke_keys: true };
  expect((await me.send("POST /reset", { body })).status).toBe(200);
  await t.settle();
  expect(await works()).toBe(401);
  const audited = await t.db.prisma.auditEntry.findFirst({ where: { accountId, action: "key.revoke" } });
  expect(audited).toMatchObject({ actor: email, address: me.address });
});
