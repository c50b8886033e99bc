import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { PAGE_READERS_OF_ADDRESS_COUNT, PAGE_TOKEN_LIFETIME_S, PORTAL_TOKEN_LIFETIME_S } from "#lib/contract/portal";
import { openPortalSession } from "#server/testing/portal-session";
import { DEMO_KEY, freshAddress, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { revokeKey } from "./keys";

const PORTAL = "https://portal.example.com";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

/** A key, its owner's open session, and a token that replaces the key. */
async function signedIn(scopes: string[] = ["market:read"], expiresAt: Date | null = null) {
  const { record } = await t.issueKey({ scopes, origins: ["https://own.example.com"], expiresAt });
  const { accountId } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
  const session = await openPortalSession(t.db, accountId, t.clock.now());
  const { token } = t.access.mintPortalToken({ key: record.id, session, origin: PORTAL });
  return { record, session, token };
}

const ask = (key: string, headers = {}) => t.ask("/api/v1/market/instruments", { key, headers });

async function endSession(sessionId: string): Promise<void> {
  await t.db.prisma.portalSession.update({ where: { id: sessionId }, data: { revokedAt: new Date(t.clock.now()) } });
  await t.db.control.publish({ kind: "sessions", sessionId });
  await t.settle();
}

describe("a token that replaces a key", () => {
  test("may what its key may, from the portal's origin alone", async () => {
    const { token } = await signedIn();
    expect(await ask(token)).toMatchObject({ status: 200 });
    expect(await ask(token, { origin: PORTAL })).toMatchObject({ status: 200 });
    expect(await ask(token, { origin: "https://own.example.com" })).toMatchObject({ body: { message: "origin_not_allowed" } });
    expect(await ask((await signedIn(["market:stream"])).token)).toMatchObject({ body: { message: "insufficient_scope" } });
  });

  test("ends with the session it was made in", async () => {
    const { token, session } = await signedIn();
    const other = await signedIn();
    expect((await ask(token)).status).toBe(200);
    await endSession(session);
    expect(await ask(token)).toMatchObject({ status: 401, body: { message: "unauthorized" } });
    expect((await ask(other.token)).status).toBe(200);
  });

  test("ends with its key", async () => {
    const { token, record } = await signedIn();
    expect((await ask(token)).status).toBe(200);
    await revokeKey(t.keyContext, record.id);
    await t.settle();
    expect((await ask(token)).status).toBe(401);
  });

  test("ends by itself after ten minutes", async () => {
    const { token } = await signedIn();
    expect((await ask(token)).status).toBe(200);
    t.clock.set(t.clock.now() + PORTAL_TOKEN_LIFETIME_S * 1000);
    expect((await ask(token)).status).toBe(401);
  });

  test("does not outlive its key, though no message says that the key's time is over", async () => {
    const ends = t.clock.now() + (PORTAL_TOKEN_LIFETIME_S * 1000) / 2;
    const { token } = await signedIn(undefined, new Date(ends));
    t.clock.set(ends - 1);
    expect((await ask(token)).status).toBe(200);
    t.clock.set(ends);
    expect((await ask(token)).status).toBe(401);
  });

  test("is void in the session of another account, and when it was changed", async () => {
    const { record, token } = await signedIn();
    const { session } = await signedIn();
    const foreign = t.access.mintPortalToken({ key: record.id, session, origin: PORTAL });
    expect((await ask(foreign.token)).status).toBe(401);
    expect((await ask(`${token.slice(0, -2)}AA`)).status).toBe(401);
  });
});

const { demo } = PLAN_DEFAULTS;

/** Uses a key or token until it is refused; how many calls were answered. */
async function drain(key: string, from: string): Promise<number> {
  const call = () => t.ask("/api/v1/market/instruments", { key, address: from });
  let count = 0;
  while ((await call()).status === 200) count += 1;
  return count;
}

describe("a token with which pages call for a reader", () => {
  const page = () => t.access.mintPortalToken({ reader: randomUUID(), origin: PORTAL }).token;

  test("reads the sandbox from the portal's origin alone, for an hour", async () => {
    const token = page();
    expect(await ask(token)).toMatchObject({ status: 200 });
    expect(await ask(token, { origin: PORTAL })).toMatchObject({ status: 200 });
    expect(await ask(token, { origin: "https://own.example.com" })).toMatchObject({ body: { message: "origin_not_allowed" } });
    t.clock.set(t.clock.now() + PAGE_TOKEN_LIFETIME_S * 1000);
    expect((await ask(token)).status).toBe(401);
  });

  test("has what the demo key has, apart from it and from other readers of its address", async () => {
    const from = freshAddress();
    expect(await drain(DEMO_KEY, from)).toBe(demo.restBurst);
    expect(await drain(page(), from)).toBe(demo.restBurst);
    expect(await drain(page(), from)).toBe(demo.restBurst);
  });

  test("has no more with any number of readers than ten of them at one address, and takes nothing from others", async () => {
    const [from, other] = [freshAddress(), freshAddress()];
    let count = 0;
    for (let reader = 0; reader < PAGE_READERS_OF_ADDRESS_COUNT + 5; reader += 1) count += await drain(page(), from);
    expect(count).toBe(PAGE_READERS_OF_ADDRESS_COUNT * demo.restBurst);
    expect(await drain(DEMO_KEY, from)).toBe(demo.restBurst);
    expect(await drain(page(), other)).toBe(demo.restBurst);
  });
});

describe("a token with which pages show the live venue", () => {
  /** A live key, and tokens of pages in sessions of its account. */
  async function liveReader(settings: Parameters<TestRuntime["issueKey"]>[0] = {}) {
    const { record, text } = await t.issueKey({
      account: randomUUID(),
      plan: "free",
      venue: "live",
      scopes: ["market:read", "market:stream", "market:ingest"],
      liveAccess: true,
      ...settings,
    });
    const { accountId: account } = await t.db.prisma.apiKey.findUniqueOrThrow({ where: { id: record.id } });
    const session = await openPortalSession(t.db, account, t.clock.now());
    const { token } = t.access.mintPortalToken({ shows: record.id, account, session, origin: PORTAL });
    const another = async () => {
      const other = await openPortalSession(t.db, account, t.clock.now());
      return t.access.mintPortalToken({ shows: record.id, account, session: other, origin: PORTAL }).token;
    };
    return { id: record.id, text, account, session, token, another };
  }

  test("reads live from the portal's origin alone what the key may read, pushes nothing, and ends after ten minutes", async () => {
    const { token } = await liveReader({ tickers: ["EURUSD"] });
    expect(await t.access.verify(token, freshAddress())).toMatchObject({
      venue: "live",
      scopes: ["market:read", "market:stream"],
    });
    const { body } = await ask(token, { origin: PORTAL });
    expect(body.data.items.map(({ ticker }: { ticker: string }) => ticker)).toEqual(["EURUSD"]);
    expect(await ask(token, { origin: "https://own.example.com" })).toMatchObject({ body: { message: "origin_not_allowed" } });
    t.clock.set(t.clock.now() + PORTAL_TOKEN_LIFETIME_S * 1000);
    expect((await ask(token)).status).toBe(401);
  });

  test("has the limits of a page, takes nothing of the key, and leaves it unused", async () => {
    const { id, text, token } = await liveReader();
    const from = freshAddress();
    expect(await drain(token, from)).toBe(demo.restBurst);
    expect(await drain(text, from)).toBe(PLAN_DEFAULTS.free.restBurst);
    const { token: unused, id: untouched } = await liveReader();
    await ask(unused);
    const principal = await t.access.verify(unused, from);
    expect(principal).toMatchObject({ keyId: "demo", limits: demo });
    expect(principal.accountId).not.toBe((await t.access.refresh({ keyId: id }))?.accountId);
    expect(await t.db.prisma.apiKey.findUnique({ where: { id: untouched } })).toMatchObject({ lastUsedAt: null });
  });

  test("has no more with any number of sessions and addresses than the plan of the account allows its keys", async () => {
    const { another } = await liveReader();
    let count = 0;
    for (let one = 0; one < 5; one += 1) count += await drain(await another(), freshAddress());
    expect(count).toBe(PLAN_DEFAULTS.free.restBurst);
  });

  test.each<[string, (reader: Awaited<ReturnType<typeof liveReader>>) => Promise<unknown>, string]>([
    ["the key is revoked", ({ id }) => revokeKey(t.keyContext, id), "unauthorized"],
    ["the session ends", ({ session }) => endSession(session), "unauthorized"],
    [
      "the grant is taken back",
      async ({ account }) => {
        await t.db.prisma.account.update({ where: { id: account }, data: { liveAccess: false } });
        await t.db.control.publish({ kind: "account", accountId: account });
      },
      "live_access_required",
    ],
    [
      "the account is suspended",
      async ({ account }) => {
        await t.db.prisma.account.update({ where: { id: account }, data: { suspendedAt: new Date(t.clock.now()) } });
        await t.db.control.publish({ kind: "account", accountId: account });
      },
      "account_suspended",
    ],
  ])("ends at once when %s", async (_, end, message) => {
    const reader = await liveReader();
    expect((await ask(reader.token)).status).toBe(200);
    await end(reader);
    await t.settle();
    expect(await ask(reader.token)).toMatchObject({ body: { message } });
  });

  test("is void with the name of another account, and in a session of another one", async () => {
    const { id, session } = await liveReader();
    const other = await liveReader();
    const foreign = (claims: { account: string; session: string }) =>
      t.access.mintPortalToken({ shows: id, origin: PORTAL, ...claims }).token;
    expect((await ask(foreign({ account: other.account, session }))).status).toBe(401);
    expect((await ask(foreign({ account: other.account, session: other.session }))).status).toBe(401);
  });
});
