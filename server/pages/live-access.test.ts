import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POST as mcp } from "#app/mcp/route";
import { NO_PLAN_TERMS } from "#lib/testing/plan";
import { DAY_MS } from "#lib/units";
import { createKey, rotateKey } from "#server/store/access/keys";
import { putPlan } from "#server/store/access/plan-admin";
import { listAccounts } from "#server/store/users/account-admin";
import { setLiveAccess, setOperator } from "#server/store/users/operators";
import { callerOf, mailedToken, portalBrowser, signedInBrowser } from "#server/testing/portal-browser";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

const PASSWORD = "correct horse battery";
const LIVE = { name: "mine", venue: "live", scopes: ["market:read", "market:stream"], origins: [] };
const REFUSED = { status: 403, code: 40305, message: "live_access_required" };

let t: TestRuntime;
let people = 0;
beforeAll(async () => {
  t = await testRuntime();
  t.markets.live.quote("EURUSD", 1.08543, 1.08551, t.clock.now());
});
afterAll(() => t.close());

/** Somebody who signed up, verified the address and signed in. */
async function stranger() {
  const email = `stranger${++people}@example.com`;
  const browser = portalBrowser();
  await browser.send("POST /sign-up", { body: { email, password: PASSWORD } });
  await browser.send("POST /verify", { body: { token: mailedToken(t.capturedMails, email) } });
  expect(await browser.signIn(email, PASSWORD)).toBeNull();
  const { accountId } = await t.db.prisma.user.findUniqueOrThrow({ where: { email } });
  const call = callerOf(browser);
  const link = (keyId: string) => ({
    name: "Rates",
    key_id: keyId,
    operation: "latestQuotes",
    parameters: { tickers: "EURUSD", format: "csv" },
    expires_at: new Date(t.clock.now() + DAY_MS).toISOString(),
  });
  return { email, accountId, call, make: () => call("POST /keys", { body: LIVE }), link };
}

const entriesOf = (accountId: string) =>
  t.db.prisma.auditEntry.findMany({ where: { accountId, action: "account.change" }, orderBy: { at: "desc" } });

test("whoever signs up makes sandbox keys, no live keys, and is told what to ask for", async () => {
  const { call, make } = await stranger();
  expect(await call("POST /keys", { body: { ...LIVE, venue: "sandbox" } })).toMatchObject({ status: 200 });
  const refused = await make();
  expect(refused).toMatchObject(REFUSED);
  expect(refused.data.detail).toContain("Ask the operators for it first");
  expect((await call("GET /overview")).data).toMatchObject({ live_access: false });
});

test("an operator grants live access; while it is withdrawn, no way to the live venue is left", async () => {
  const { email, accountId, call, make, link } = await stranger();
  await setLiveAccess(t.keyContext, email.toUpperCase(), true);
  const { text, key } = (await make()).data;
  const { data: linked } = await call("POST /links", { body: link(key.id) });
  const address = linked.address.replace(/^https?:\/\/[^/]+/, "");
  const { data: portal } = await call("POST /tokens", { body: { key_id: key.id } });
  await t.settle();
  const ways = {
    rest: () => t.ask("/api/v1/market/quotes/latest?tickers=EURUSD", { key: text }),
    conversion: () => t.ask("/api/v1/market/conversion?from=EUR&to=USD", { key: text }),
    ticket: () => t.ask("/api/v1/market/stream/tickets", { key: text, method: "POST" }),
    link: () => t.ask(address, { key: null }),
    token: () =>
      t.ask("/api/v1/market/quotes/latest?tickers=EURUSD", { key: portal.token, headers: { origin: "http://spotwire.test" } }),
  };
  const statuses = async () =>
    Object.fromEntries(await Promise.all(Object.entries(ways).map(async ([way, ask]) => [way, (await ask()).status])));
  expect(await statuses()).toEqual({ rest: 200, conversion: 200, ticket: 200, link: 200, token: 200 });

  await setLiveAccess(t.keyContext, email, false);
  await t.settle();
  expect(await statuses()).toEqual({ rest: 403, conversion: 403, ticket: 403, link: 403, token: 403 });
  expect((await ways.rest()).body).toMatchObject({ code: 40305, message: "live_access_required" });
  const asked = { method: "POST", headers: { authorization: `Bearer ${text}`, "content-type": "application/json" }, body: "{}" };
  expect((await mcp(new Request("http://spotwire.test/mcp", asked))).status).toBe(403);
  expect(await make()).toMatchObject(REFUSED);
  expect(await call("POST /keys/[id]/rotate", { id: key.id, body: { grace: "24h" } })).toMatchObject(REFUSED);
  expect(await call("POST /links", { body: link(key.id) })).toMatchObject(REFUSED);
  expect(await call("POST /tokens", { body: { key_id: key.id } })).toMatchObject(REFUSED);

  await setLiveAccess(t.keyContext, email, true);
  await t.settle();
  expect(await statuses()).toMatchObject({ rest: 200, link: 200 });
  expect((await entriesOf(accountId)).map(({ after }) => after)).toMatchObject([
    { live_access: true },
    { live_access: false },
    { live_access: true },
  ]);
});

test("a plan gives live access to its accounts, and takes it from those without a grant of their own", async () => {
  const { accountId, make } = await stranger();
  const limits = {
    rest_per_minute: 600,
    rest_burst: 60,
    stream_connections: 2,
    subscriptions_per_connection: 50,
    ...NO_PLAN_TERMS,
  };
  await putPlan(t, "desk", { ...limits, live_access: true, revision: null });
  await t.db.prisma.account.update({ where: { id: accountId }, data: { planName: "desk" } });
  const { text } = (await make()).data;
  const read = async () => (await t.ask("/api/v1/market/instruments", { key: text })).status;
  expect(await read()).toBe(200);
  expect((await listAccounts(t, { live: "true" })).items.map(({ id }) => id)).toContain(accountId);
  await putPlan(t, "desk", { ...limits, live_access: false, revision: 1 });
  await t.settle();
  expect(await read()).toBe(403);
  expect((await listAccounts(t, { live: "true" })).items.map(({ id }) => id)).not.toContain(accountId);
});

test("an operator at a terminal makes live keys of accounts made there, and of others only after a grant", async () => {
  const { text } = await t.issueKey({ account: "feeder", scopes: ["market:ingest"] });
  expect(await t.access.verify(text, "203.0.113.9")).toMatchObject({ liveAccess: true });
  const { accountId, email } = await stranger();
  const key = { ...LIVE, accountId };
  await expect(createKey(t.keyContext, key)).rejects.toMatchObject({
    id: "live_access_required",
    data: { detail: expect.stringContaining("npm run admin -- grant-live") },
  });
  await setLiveAccess(t.keyContext, email, true);
  const { record } = await createKey(t.keyContext, key);
  await setLiveAccess(t.keyContext, email, false);
  await expect(rotateKey(t.keyContext, record.id, "now")).rejects.toMatchObject({ id: "live_access_required" });
  await expect(setLiveAccess(t.keyContext, "nobody@example.com", true)).rejects.toMatchObject({ id: "invalid_parameter" });
});

test("a new operator has live access, and keeps it afterwards until it is withdrawn", async () => {
  const { email, make } = await stranger();
  await setOperator(t.keyContext, email, true);
  expect(await make()).toMatchObject({ status: 200 });
  await setOperator(t.keyContext, email, false);
  expect(await make()).toMatchObject({ status: 200 });
  await setLiveAccess(t.keyContext, email, false);
  expect(await make()).toMatchObject(REFUSED);
});

describe("an account that asks for live access", () => {
  const mailsTo = (to: string, about: string) =>
    t.capturedMails.list().filter((mail) => mail.to === to && mail.subject.includes(about));
  const askedAt = async (call: ReturnType<typeof callerOf>) => (await call("GET /overview")).data.live_asked_at;
  const waiting = async () => (await listAccounts(t, { waiting: "true" })).items.map(({ id }) => id);

  async function operatorCall() {
    const { browser, accountId } = await signedInBrowser(t, `operator${++people}@example.com`);
    await t.db.prisma.user.updateMany({ where: { accountId }, data: { operator: true, totpSince: new Date(t.clock.now()) } });
    return callerOf(browser);
  }

  test("waits for an operator, however often it asks", async () => {
    const { accountId, email, call } = await stranger();
    const operator = await operatorCall();
    const count = async () => (await operator("GET /admin/health")).data.accounts_waiting;
    const before = await count();
    expect(await askedAt(call)).toBeNull();
    for (const _ of [1, 2]) expect(await call("POST /organisation/live-access")).toMatchObject({ status: 200 });
    expect(await askedAt(call)).toBe(new Date(t.clock.now()).toISOString());
    expect(await waiting()).toContain(accountId);
    expect(await count()).toBe(before + 1);
    const entries = await t.db.prisma.auditEntry.findMany({ where: { accountId, action: "account.ask_live" } });
    expect(entries).toMatchObject([{ actor: email, target: email }]);
  });

  test("is told what an operator decides, may ask again once declined, and asks no more once granted", async () => {
    const { accountId, email, call, make } = await stranger();
    const operator = await operatorCall();
    const decide = async (live_access: boolean) => {
      const { revision } = (await operator("GET /admin/accounts/[id]", { id: accountId })).data.account;
      return operator("PATCH /admin/accounts/[id]", { id: accountId, body: { live_access, revision } });
    };
    const told = () => mailsTo(email, "Live access").map(({ subject }) => subject);

    await call("POST /organisation/live-access");
    // Whoever saves other access of the account decides nothing about what it asks for.
    expect((await decide(false)).data.account.live_asked_at).not.toBeNull();
    const decline = () => operator("POST /admin/accounts/[id]/decline-live", { id: accountId });
    expect((await decline()).data.account).toMatchObject({ live_access: false, live_asked_at: null });
    expect(told()).toEqual(["Live access declined"]);
    expect(await decline()).toMatchObject({ status: 409, data: { detail: expect.stringContaining("does not ask") } });
    expect(await waiting()).not.toContain(accountId);
    expect(await askedAt(call)).toBeNull();
    const declinedMs = t.clock.now();
    const declined = async () => (await call("GET /overview")).data.live_declined;
    expect(await declined()).toEqual({
      at: new Date(declinedMs).toISOString(),
      ask_again_at: new Date(declinedMs + DAY_MS).toISOString(),
    });
    expect(await call("POST /organisation/live-access")).toMatchObject({ status: 429, message: "rate_limited" });
    expect(await waiting()).not.toContain(accountId);

    await t.db.prisma.account.update({ where: { id: accountId }, data: { liveDeclinedAt: new Date(declinedMs - DAY_MS) } });
    await call("POST /organisation/live-access");
    expect(await waiting()).toContain(accountId);
    expect((await decide(true)).data.account).toMatchObject({ live_access: true, live_asked_at: null });
    expect(await make()).toMatchObject({ status: 200 });
    await call("POST /organisation/live-access");
    expect(await waiting()).not.toContain(accountId);

    await decide(false);
    expect(await declined()).toBeNull();
    expect(told().sort()).toEqual(["Live access declined", "Live access granted", "Live access withdrawn"]);
    expect(await askedAt(call)).toBeNull();
  });

  test("keeps what one operator granted when another declines it, even one who looked again", async () => {
    const { accountId, email, call, make } = await stranger();
    const [one, another] = [await operatorCall(), await operatorCall()];
    await call("POST /organisation/live-access");
    const { revision } = (await one("GET /admin/accounts/[id]", { id: accountId })).data.account;
    const grant = await one("PATCH /admin/accounts/[id]", { id: accountId, body: { live_access: true, revision } });
    expect(grant).toMatchObject({ status: 200 });
    const decline = await another("POST /admin/accounts/[id]/decline-live", { id: accountId });
    expect(decline).toMatchObject({ status: 409, message: "conflict", data: { detail: expect.stringContaining(email) } });
    expect(await make()).toMatchObject({ status: 200 });
    expect(mailsTo(email, "Live access").map(({ subject }) => subject)).toEqual(["Live access granted"]);
    const after = (await one("GET /admin/accounts/[id]", { id: accountId })).data.account;
    expect(after).toMatchObject({ live_access: true, revision: grant.data.account.revision });
  });

  test("gets one decision when one operator grants it while another declines", async () => {
    const { accountId, email, call } = await stranger();
    const [one, another] = [await operatorCall(), await operatorCall()];
    await call("POST /organisation/live-access");
    const { revision } = (await one("GET /admin/accounts/[id]", { id: accountId })).data.account;
    const [grant, decline] = await Promise.all([
      one("PATCH /admin/accounts/[id]", { id: accountId, body: { live_access: true, revision } }),
      another("POST /admin/accounts/[id]/decline-live", { id: accountId }),
    ]);
    expect([grant.status, decline.status].sort()).toEqual([200, 409]);
    const granted = grant.status === 200;
    expect(await t.db.prisma.account.findUnique({ where: { id: accountId } })).toMatchObject({
      liveAccess: granted,
      liveAskedAt: null,
      liveDeclinedAt: granted ? null : new Date(t.clock.now()),
    });
    const told = mailsTo(email, "Live access").map(({ subject }) => subject);
    expect(told).toEqual([granted ? "Live access granted" : "Live access declined"]);
    const decisions = { accountId, action: { in: ["account.change", "account.decline_live"] } };
    expect(await t.db.prisma.auditEntry.count({ where: decisions })).toBe(1);
  });

  test("is granted it once by two operators at a time, from the page and from the command line", async () => {
    for (const page of [true, false]) {
      const { accountId, email } = await stranger();
      const [one, another] = [await operatorCall(), await operatorCall()];
      const body = { live_access: true, revision: 1 };
      const ways = page
        ? [one, another].map((operator) => operator("PATCH /admin/accounts/[id]", { id: accountId, body }))
        : [1, 2].map(() => setLiveAccess(t.keyContext, email, true));
      await Promise.all(ways);
      expect(await entriesOf(accountId)).toHaveLength(1);
      expect(mailsTo(email, "Live access")).toHaveLength(page ? 1 : 0);
      expect(await t.db.prisma.account.findUnique({ where: { id: accountId } })).toMatchObject({ revision: 2 });
    }
  });

  test("was not read by an operator who decides on it as it was before it asked", async () => {
    const { accountId, call } = await stranger();
    const operator = await operatorCall();
    const { revision } = (await operator("GET /admin/accounts/[id]", { id: accountId })).data.account;
    await call("POST /organisation/live-access");
    const body = { live_access: false, revision };
    expect(await operator("PATCH /admin/accounts/[id]", { id: accountId, body })).toMatchObject({ status: 409 });
    expect(await waiting()).toContain(accountId);
  });

  test("needs a verified address and a role that makes keys", async () => {
    const { accountId, email, call } = await stranger();
    await t.db.prisma.user.update({ where: { email }, data: { emailVerifiedAt: null } });
    expect(await call("POST /organisation/live-access")).toMatchObject({ status: 400, message: "invalid_parameter" });
    await t.db.prisma.user.update({ where: { email }, data: { emailVerifiedAt: new Date(t.clock.now()) } });
    await t.db.prisma.membership.updateMany({ where: { accountId }, data: { role: "reader" } });
    expect(await call("POST /organisation/live-access")).toMatchObject({ status: 403, message: "role_required" });
    expect(await waiting()).not.toContain(accountId);
  });
});
