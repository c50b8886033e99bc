import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PLAN_DEFAULTS, STREAM_HEARTBEAT_INTERVAL_S } from "#lib/contract/limits";
import type { AckOf } from "#lib/contract/stream";
import { type StreamClient, TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

const HEARTBEAT_MS = STREAM_HEARTBEAT_INTERVAL_S * 1000;
/** Interval of the checks on connections. */
const LOOK_MS = 250;

let t: StreamService;

beforeEach(async () => {
  t = await startStreamService();
});
afterEach(async () => {
  expect(t.logged).toEqual([]);
  await t.close();
});

const subscribe = async (client: StreamClient, tickers: readonly string[], stream = "quote") => {
  const answer = (await client.ask("subscribe", { stream, tickers, snapshot: false })) as AckOf<"subscribe">;
  expect(answer.data).toMatchObject({ accepted: tickers });
  return answer.data;
};

describe.each(TRANSPORTS)("a connection over %s", (transport) => {
  test("the first message of a connection is a welcome with the limits of its plan", async () => {
    const { text } = await t.issueKey({ plan: "standard", venue: "sandbox" });
    const client = await t.connect({ transport, key: text, headers: { "x-request-id": "my-handshake" } });
    expect(await client.next("welcome")).toEqual({
      type: "welcome",
      protocol: "market.v1",
      connection_id: "my-handshake",
      venue: "sandbox",
      time_msc: t.clock.now(),
      epoch: t.markets.sandbox.epoch,
      heartbeat_interval_s: STREAM_HEARTBEAT_INTERVAL_S,
      limits: {
        connections: PLAN_DEFAULTS.standard.streamConnections,
        subscriptions: PLAN_DEFAULTS.standard.subscriptionsPerConnection,
        messages_per_second: 5,
        messages_burst: 20,
        message_max_bytes: 16_384,
        tickers_per_message: 100,
      },
    });
    expect(client.received[0]?.type).toBe("welcome");
  });

  test("a connection receives a heartbeat every 15 seconds, with the tickers that were quiet since the last one and why", async () => {
    await t.tick("EURUSD", 1.1, 1.1001);
    const client = await t.connect({ transport });
    const startMs = t.clock.now();
    const { quiet } = await subscribe(client, ["EURUSD", "GBPUSD"]);
    expect(quiet.map(({ ticker }) => ticker)).toEqual(["GBPUSD"]);
    await t.advance(HEARTBEAT_MS - 1, [client]);
    expect(client.received.filter(({ type }) => type === "heartbeat")).toEqual([]);
    await t.tick("EURUSD", 1.2, 1.2001);
    await t.advance(LOOK_MS, [client]);
    const first = await client.next("heartbeat");
    expect(first.time_msc - startMs - HEARTBEAT_MS).toBeLessThan(LOOK_MS);
    expect(first.quiet).toEqual([
      {
        ticker: "GBPUSD",
        final_display_state: "not_offered",
        reason: "not_offered",
        next_open_at: "2026-01-11T22:00:00.000Z",
      },
    ]);
    await t.advance(HEARTBEAT_MS, [client]);
    const second = await client.next("heartbeat");
    expect(Math.abs(second.time_msc - first.time_msc - HEARTBEAT_MS)).toBeLessThanOrEqual(LOOK_MS);
    expect(second.quiet).toMatchObject([
      { ticker: "EURUSD", final_display_state: "open", reason: null },
      { ticker: "GBPUSD", reason: "not_offered" },
    ]);
    await client.close();
  });

  test("an ack lists the tickers that deliver no records now, as heartbeats do: not quoted for an interval, or never", async () => {
    await t.tick("EURUSD", 1.1, 1.1001);
    const client = await t.connect({ transport });
    await subscribe(client, ["XAUUSD"]);
    // After a heartbeat, but long before the quotes are stale.
    await t.advance(30_000, [client]);
    await t.tick("AUDUSD", 0.7, 0.7001);
    const { quiet } = await subscribe(client, ["EURUSD", "GBPUSD", "AUDUSD"]);
    expect(quiet).toMatchObject([
      { ticker: "EURUSD", final_display_state: "open", reason: null },
      { ticker: "GBPUSD", reason: "not_offered" },
    ]);
    await client.close();
  });

  test("a connection is notified of each market status change of its subscriptions within a second, and of nothing else", async () => {
    await t.tick("EURUSD", 1.1, 1.1001);
    await t.tick("GBPUSD", 1.3, 1.3001);
    const client = await t.connect({ transport });
    await subscribe(client, ["EURUSD"]);
    await subscribe(client, ["EURUSD"], "snapshot");
    const statuses = () => client.received.filter((message) => message.type === "market_status");
    await t.advance(60_000, [client]);
    expect(statuses()).toEqual([]);
    await t.advance(1_000, [client]);
    expect(statuses()).toMatchObject([
      {
        ticker: "EURUSD",
        data: { ticker: "EURUSD", market_data_state: "stale", final_display_state: "open_data_stale", provider_source: "test" },
      },
    ]);
    await t.tick("EURUSD", 1.2, 1.2001);
    await t.advance(1_000, [client]);
    expect(statuses().map(({ data }) => data.final_display_state)).toEqual(["open_data_stale", "open"]);
    await t.db.prisma.calendarOverride.create({
      data: {
        calendarName: "forex",
        state: "closed",
        startsAt: new Date(t.clock.now()),
        endsAt: new Date(t.clock.now() + 10_000),
      },
    });
    await t.tell({ kind: "calendars" });
    await vi.waitFor(async () => {
      await t.advance(LOOK_MS, []);
      expect(statuses()).toHaveLength(3);
    });
    expect(statuses()[2]).toMatchObject({
      data: { calendar_state: "closed", final_display_state: "closed", calendar_source: "operator_override" },
    });
    await t.advance(10_000, [client]);
    await t.advance(1_000, [client]);
    expect(statuses().at(-1)?.data).toMatchObject({ calendar_state: "open" });
    expect(new Set(statuses().map(({ ticker }) => ticker))).toEqual(new Set(["EURUSD"]));
    await client.close();
  });

  test("a connection is notified of a shutdown, receives what is queued, and is closed with a code that allows a reconnect", async () => {
    const client = await t.connect({ transport });
    await subscribe(client, ["EURUSD"]);
    await t.tick("EURUSD", 1.1, 1.1001);
    await t.stopStreams([client]);
    expect(await client.closed).toMatchObject({
      after: "retry",
      ...(transport !== "socket.io" && { code: 1001, reason: "shutdown" }),
    });
    const types = client.received.map(({ type }) => type);
    expect(types.indexOf("quote")).toBeGreaterThan(0);
    expect(types.indexOf("server_shutdown")).toBeGreaterThan(types.indexOf("quote"));
    expect(client.received.find(({ type }) => type === "server_shutdown")).toMatchObject({ reconnect_after_ms: 5_000 });
  });

  test("a client that does not answer its close does not delay a shutdown", async () => {
    const client = await t.connect({ transport });
    await subscribe(client, ["EURUSD"]);
    client.socket.pause();
    const startedMs = t.clock.now();
    await t.stopStreams();
    expect(t.clock.now() - startedMs).toBeLessThan(5_000);
    client.socket.resume();
    await client.closed;
  });

  test("a connection of one venue receives nothing of the other venue", async () => {
    const sandbox = await t.issueKey({ venue: "sandbox" });
    const [live, other] = [await t.connect({ transport }), await t.connect({ transport, key: sandbox.text })];
    await subscribe(live, ["EURUSD"]);
    await subscribe(other, ["EURUSD"]);
    await t.tick("EURUSD", 1.1, 1.1001, "sandbox");
    expect(await other.next("quote")).toMatchObject({ epoch: t.markets.sandbox.epoch });
    await fence(live);
    expect(live.received.some(({ type }) => type === "quote")).toBe(false);
  });

  test("a connection releases its slot when it ends, even without a close", async () => {
    const { text } = await t.issueKey({ plan: "free" });
    for (const end of ["close", "cut"] as const) {
      const clients = await Promise.all([1, 2].map(() => t.connect({ transport, key: text })));
      expect((await t.refused({ transport, key: text })).body).toMatchObject({
        code: 42902,
        message: "too_many_connections",
        data: { max: 2 },
      });
      for (const client of clients) {
        if (end === "close") await client.close();
        else client.socket.destroy();
      }
      await vi.waitFor(async () => expect(await t.connections()).toBe(0));
    }
    await (await t.connect({ transport, key: text })).close();
  });
});

describe("a shutdown", () => {
  test("a shutdown without connections does not wait", async () => {
    const startedMs = t.clock.now();
    await t.stopStreams();
    expect(t.clock.now() - startedMs).toBeLessThan(5_000);
  });
});
