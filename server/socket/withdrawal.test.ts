import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CLOSES, type CloseId } from "#lib/contract/close-codes";
import type { ErrorId } from "#lib/contract/errors";
import { STREAM_REVOCATION_MAX_MS } from "#lib/contract/limits";
import { type StreamClient, TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { editKey, revokeKey, rotateKey } from "#server/store/access/keys";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

const ORIGIN = "https://app.example.com";
let t: StreamService;

beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

/** Asserts that the client gets the reason and is closed with its code. */
async function expectEnd(client: StreamClient, id: CloseId, message: ErrorId): Promise<void> {
  const { code, reason, after } = CLOSES[id];
  const notice = await client.next("error");
  expect(notice).toMatchObject({ id: null, message, data: { close_code: code, request_id: expect.any(String) } });
  expect(await client.closed).toMatchObject({ after, ...(client.transport !== "socket.io" && { code, reason }) });
  expect(client.received.at(-1)).toEqual(notice);
}

let accounts = 0;
/** Returns a new account name for one test. */
function account(): string {
  accounts += 1;
  return `withdrawn ${accounts}`;
}

describe.each(TRANSPORTS)("an open connection over %s", (transport) => {
  async function open(key: string, tickers: readonly string[] = ["EURUSD"], origin?: string): Promise<StreamClient> {
    const client = await t.connect({ transport, key, ...(origin !== undefined && { origin }) });
    const answer = await client.ask("subscribe", { stream: "quote", tickers });
    expect(answer).toMatchObject({ data: { accepted: tickers } });
    return client;
  }
  /** A connection of an account that the test does not change. */
  async function neighbour() {
    const client = await open((await t.issueKey()).text);
    return async () => {
      await fence(client);
      await client.close();
    };
  }

  test("revoking a key ends all of its open connections while the clock stands still, and no others", async () => {
    const name = account();
    const [revoked, kept] = [await t.issueKey({ account: name }), await t.issueKey({ account: name })];
    const clients = [await open(revoked.text), await open(revoked.text)];
    const other = await open(kept.text);
    await revokeKey(t.keyContext, revoked.record.id);
    await Promise.all(clients.map((client) => expectEnd(client, "unauthorized", "unauthorized")));
    await fence(other);
    await other.close();
  });

  test("an open connection ends when its key no longer allows its address, and others stay", async () => {
    const { text, record } = await t.issueKey();
    const [kept, closed] = [await t.connect({ transport, key: text, address: "203.0.113.7" }), await open(text)];
    await kept.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    await editKey(t.keyContext, record.id, { addresses: ["203.0.113.0/24"] });
    await expectEnd(closed, "forbidden", "address_not_allowed");
    await fence(kept);
    await kept.close();
  });

  test("an open connection ends when its key expires, and not before", async () => {
    const { text } = await t.issueKey({ expiresAt: new Date(t.clock.now() + 20_000) });
    const client = await open(text);
    await t.advance(19_900, [client]);
    await t.advance(STREAM_REVOCATION_MAX_MS);
    await expectEnd(client, "unauthorized", "unauthorized");
  });

  test("an open connection ends with the grace period of its rotated key", async () => {
    const { text, record } = await t.issueKey();
    const client = await open(text);
    const { text: next } = await rotateKey(t.keyContext, record.id, "1h");
    const replaced = await open(next);
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { graceUntil: new Date(t.clock.now() + 20_000) } });
    await t.tell({ kind: "keys", keyId: record.id });
    await t.advance(19_900, [client, replaced]);
    await t.advance(STREAM_REVOCATION_MAX_MS, [replaced]);
    await expectEnd(client, "unauthorized", "unauthorized");
    await replaced.close();
  });

  test("an open connection ends when its key is rotated without a grace period", async () => {
    const { text, record } = await t.issueKey();
    const client = await open(text);
    await rotateKey(t.keyContext, record.id, "now");
    await expectEnd(client, "unauthorized", "unauthorized");
  });

  test("an open connection ends when its key loses the scope", async () => {
    const { text, record } = await t.issueKey();
    const client = await open(text);
    const stays = await neighbour();
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { scopes: ["market:read"] } });
    await t.tell({ kind: "keys", keyId: record.id });
    await expectEnd(client, "forbidden", "insufficient_scope");
    await stays();
  });

  test("an open connection ends when its origin is removed from the key, and connections of other origins stay", async () => {
    const { text, record } = await t.issueKey({ origins: [ORIGIN, "https://other.example.com"] });
    const client = await open(text, ["EURUSD"], ORIGIN);
    const other = await open(text, ["EURUSD"], "https://other.example.com");
    const server = await open(text);
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { origins: ["https://other.example.com"] } });
    await t.tell({ kind: "keys", keyId: record.id });
    await expectEnd(client, "forbidden", "origin_not_allowed");
    await Promise.all([fence(other), fence(server)]);
    await Promise.all([other.close(), server.close()]);
  });

  test("an open connection ends when the account is suspended", async () => {
    const name = account();
    const { text } = await t.issueKey({ account: name });
    const client = await open(text);
    await t.changeAccount(name, { suspended: true });
    await expectEnd(client, "forbidden", "account_suspended");
  });

  test.each(["account", "plan"] as const)("an open connection ends when live access of the %s is withdrawn", async (of) => {
    const name = account();
    const { text } = await t.issueKey({ account: name, plan: "pro" });
    const plan = (liveAccess: boolean) => t.db.prisma.plan.update({ where: { name: "pro" }, data: { liveAccess } });
    if (of === "plan") {
      await plan(true);
      await t.changeAccount(name, { liveAccess: false });
    }
    const client = await open(text);
    const stays = await neighbour();
    if (of === "account") await t.changeAccount(name, { liveAccess: false });
    else {
      await plan(false);
      await t.tell({ kind: "account" });
    }
    await expectEnd(client, "forbidden", "live_access_required");
    await stays();
  });

  test("an open connection ends when its plan includes no streams any more", async () => {
    const name = account();
    const plan = `streams over ${transport}`;
    await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: plan } });
    const { text } = await t.issueKey({ account: name, plan });
    const client = await open(text);
    const stays = await neighbour();
    await t.db.prisma.plan.update({ where: { name: plan }, data: { streams: false } });
    await t.tell({ kind: "account" });
    await expectEnd(client, "forbidden", "not_in_plan");
    expect((await t.refused({ transport, key: text })).body).toMatchObject({ code: 40310 });
    await stays();
  });

  test("an open connection goes on when the quota of the month ends, and a new one can be opened", async () => {
    const name = account();
    const plan = `quota over ${transport}`;
    await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: plan, monthUnits: 1, monthHard: true } });
    const { text } = await t.issueKey({ account: name, plan });
    const client = await open(text);
    const read = () => fetch(`${t.url}/api/v1/market/instruments`, { headers: { authorization: `Bearer ${text}` } });
    expect([(await read()).status, (await read()).status]).toEqual([200, 429]);
    await fence(client);
    const next = await open(text);
    await Promise.all([client.close(), next.close()]);
  });

  test("an open connection ends when a subscribed instrument is no longer permitted, and not when another one is", async () => {
    const name = account();
    const { text } = await t.issueKey({ account: name });
    const [euro, gold] = [await open(text, ["EURUSD"]), await open(text, ["XAUUSD"])];
    await t.changeAccount(name, { permissions: { kind: "asset_classes", values: ["metals"] } });
    await expectEnd(euro, "forbidden", "unknown_ticker");
    expect(await gold.ask("subscribe", { stream: "quote", tickers: ["EURUSD", "XAGUSD"] })).toMatchObject({
      data: { accepted: ["XAGUSD"], rejected: [{ ticker: "EURUSD", code: 40401 }] },
    });
    await gold.close();
  });

  test("an open connection ends when it has more subscriptions than a lower plan allows, and only then", async () => {
    const name = account();
    const { text } = await t.issueKey({ account: name });
    const tickers = t.markets.live.catalogue.list().map(({ ticker }) => ticker);
    const [many, few] = [await open(text, tickers.slice(0, 51)), await open(text, tickers.slice(0, 50))];
    await t.changeAccount(name, { plan: "free" });
    await expectEnd(many, "forbidden", "too_many_subscriptions");
    expect(await few.ask("subscribe", { stream: "quote", tickers: tickers.slice(50, 51) })).toMatchObject({
      data: { accepted: [], rejected: [{ code: 42903 }] },
    });
    await few.close();
  });

  test("a lower plan ends the newest connections beyond its limit, counted over all keys of the account", async () => {
    const name = account();
    const keys = [await t.issueKey({ account: name }), await t.issueKey({ account: name })];
    const clients: StreamClient[] = [];
    for (const index of [0, 1, 0, 1]) clients.push(await open(keys[index]?.text ?? ""));
    await t.changeAccount(name, { plan: "free" });
    const [first, second, ...newest] = clients as [StreamClient, StreamClient, ...StreamClient[]];
    for (const client of newest) await expectEnd(client, "forbidden", "too_many_connections");
    await Promise.all([fence(first), fence(second)]);
    await Promise.all([first.close(), second.close()]);
  });

  test("an open connection continues without a retired instrument and receives its name", async () => {
    const ticker = { websocket: "USDHUF", msgpack: "USDSGD", "socket.io": "USDZAR" }[transport];
    const client = await open((await t.issueKey()).text, [ticker, "EURUSD"]);
    const stays = await neighbour();
    const where = { venue_ticker: { venue: "live", ticker } };
    await t.db.prisma.listing.update({ where, data: { retiredAt: new Date(t.clock.now()) } });
    await t.tell({ kind: "listings", venue: "live" });
    expect(await client.next("error")).toMatchObject({ id: null, code: 40401, data: { tickers: [ticker] } });
    expect(await client.ask("list")).toMatchObject({ data: { subscriptions: 1, items: [{ ticker: "EURUSD" }] } });
    await stays();
    await client.close();
  });

  test("a connection whose key was revoked while control messages were lost ends once they arrive again", async () => {
    const { text, record } = await t.issueKey();
    const client = await open(text);
    const stays = await neighbour();
    await t.db.prisma.apiKey.update({ where: { id: record.id }, data: { revokedAt: new Date(t.clock.now()) } });
    // The connection of the listener: it runs LISTEN, and then checks every few seconds that it is alive.
    await t.db.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE (query LIKE 'LISTEN%' OR query = 'SELECT 1') AND datname = current_database()",
    );
    await expectEnd(client, "unauthorized", "unauthorized");
    await stays();
  });

  test("a connection opened while its key is revoked is ended", async () => {
    const { text, record } = await t.issueKey();
    const coming = t.connect({ transport, key: text }).catch(() => undefined);
    await revokeKey(t.keyContext, record.id);
    const client = await coming;
    if (client !== undefined) await expectEnd(client, "unauthorized", "unauthorized");
    expect((await t.refused({ transport, key: text })).body).toMatchObject({ code: 40101 });
  });
});
