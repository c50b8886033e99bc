import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { STREAM_MESSAGE_MAX_BYTES } from "#lib/contract/limits";
import type { Ack, AckOf, ErrorMessage } from "#lib/contract/stream";
import { type StreamClient, TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

let t: StreamService;
let price = 1.1;

beforeAll(async () => {
  t = await startStreamService();
  await t.db.prisma.plan.create({
    data: { name: "three", restPerMinute: 1e6, restBurst: 1e6, streamConnections: 100, subscriptionsPerConnection: 3 },
  });
});
afterAll(() => t.close());

/** Another tick of the ticker, at a different price. */
async function tick(ticker = "EURUSD"): Promise<number> {
  price = Number((price + 0.00001).toFixed(5));
  await t.tick(ticker, price, price + 0.0001);
  return price;
}

const ackOf = (answer: Ack | ErrorMessage) => {
  expect(answer).toMatchObject({ type: "ack", code: 0, message: "success" });
  return (answer as AckOf<"subscribe">).data;
};
const subscribe = async (client: StreamClient, params: object) => ackOf(await client.ask("subscribe", params));
const quotesOf = (client: StreamClient) => client.received.filter((message) => message.type === "quote");

describe.each(TRANSPORTS)("a subscription over %s", (transport) => {
  const connect = (key?: string) => t.connect({ transport, ...(key !== undefined && { key }) });

  test("a subscription gets its ack, then the current record, then each next record in sequence", async () => {
    const bid = await tick();
    // The reason why a ticker is quiet is checked every quarter of a second.
    await t.advance(250);
    const client = await connect();
    client.send("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    expect((await client.next("ack")).data).toEqual({ accepted: ["EURUSD"], rejected: [], quiet: [], subscriptions: 1 });
    const first = await client.next("quote");
    expect(first).toMatchObject({ event: "snapshot", ticker: "EURUSD", data: { bid } });
    expect(first.data).toEqual(t.markets.live.view.quote("EURUSD"));
    for (let index = 1; index <= 3; index += 1) {
      const next = await tick();
      expect(await client.next("quote")).toMatchObject({
        event: "update",
        epoch: first.epoch,
        seq: first.seq + index,
        data: { bid: next },
      });
    }
    expect(client.received.map(({ type }) => type)).toEqual(["welcome", "ack", "quote", "quote", "quote", "quote"]);
    expect(quotesOf(client).every((message) => !("merged" in message))).toBe(true);
    await client.close();
  });

  test("a subscription without a snapshot starts with the next record", async () => {
    await tick();
    const client = await connect();
    await subscribe(client, { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    await fence(client);
    expect(quotesOf(client)).toEqual([]);
    await tick();
    expect(await client.next("quote")).toMatchObject({ event: "update" });
    await client.close();
  });

  test("a subscription to a ticker without a quote is reported as quiet, and delivers the first quote as an update", async () => {
    const ticker = { websocket: "EURCZK", msgpack: "EURHUF", "socket.io": "EURDKK" }[transport];
    const client = await connect();
    const { quiet } = await subscribe(client, { stream: "quote", tickers: [ticker] });
    expect(quiet).toMatchObject([{ ticker, final_display_state: "not_offered", reason: "not_offered" }]);
    await fence(client);
    expect(quotesOf(client)).toEqual([]);
    await tick(ticker);
    expect(await client.next("quote")).toMatchObject({ event: "update", seq: 1 });
    await client.close();
  });

  test("each ticker of a subscribe is accepted or rejected separately", async () => {
    await tick();
    const client = await connect();
    const tickers = ["eurusd", " GBPUSD ", "XXXYYY", "EUR/USD", "AB", "é".repeat(300), "EURUSD"];
    const data = await subscribe(client, { stream: "quote", tickers });
    expect(data).toMatchObject({ accepted: ["EURUSD", "GBPUSD"], subscriptions: 2 });
    expect(data.rejected).toMatchObject([
      { ticker: "XXXYYY", code: 40401, message: "unknown_ticker" },
      { ticker: "EUR/USD", code: 40003, message: "invalid_ticker", suggestion: "EURUSD" },
      { ticker: "AB", code: 40003, message: "invalid_ticker" },
      { ticker: "é".repeat(300), code: 40003, message: "invalid_ticker" },
    ]);
    await client.close();
  });

  test("an unknown ticker with a typing mistake is rejected with the one that is probably meant, for the first of a message", async () => {
    const { text } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    const suggestions = async (key: string | undefined, tickers: string[]) => {
      const client = await connect(key);
      const { rejected } = await subscribe(client, { stream: "quote", tickers });
      await client.close();
      return rejected.map(({ message, suggestion }) => [message, suggestion]);
    };
    const [unknown, none] = ["unknown_ticker", undefined];
    expect(await suggestions(none, ["EURUSD", "eurusdd", "GBPUSDD"])).toEqual([
      [unknown, "EURUSD"],
      [unknown, none],
    ]);
    expect(await suggestions(text, ["EURUSDD"])).toEqual([[unknown, none]]);
  });

  test("an instrument that is not permitted is rejected the same way as one that does not exist", async () => {
    const { text } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    const client = await connect(text);
    const { accepted, rejected } = await subscribe(client, {
      stream: "quote",
      tickers: ["EURUSD", "EUR/USD", "QQQQQQ", "XAUUSD"],
    });
    expect(accepted).toEqual(["XAUUSD"]);
    expect(rejected.map(({ ticker, suggestion, ...rest }) => [ticker, rest.code, suggestion])).toEqual([
      ["EURUSD", 40401, undefined],
      ["EUR/USD", 40003, undefined],
      ["QQQQQQ", 40401, undefined],
    ]);
    const [permitted, missing] = [rejected[0], rejected[2]];
    expect({ ...permitted, ticker: "" }).toEqual({ ...missing, ticker: "" });
    await client.close();
  });

  test("an empty ticker is rejected with where it stands, and the others are accepted", async () => {
    const client = await connect();
    const { accepted, rejected } = await subscribe(client, { stream: "quote", tickers: ["EURUSD", "", "GBPUSD", " "] });
    expect(accepted).toEqual(["EURUSD", "GBPUSD"]);
    expect(rejected.map(({ ticker, code, detail }) => [ticker, code, detail])).toEqual([
      ["", 40003, "`tickers` contains an empty item: number 2 of 4."],
      [" ", 40003, "`tickers` contains an empty item: number 4 of 4."],
    ]);
    await client.close();
  });

  test("tickers beyond the limit of the plan are rejected one by one; existing subscriptions are not counted twice", async () => {
    const { text } = await t.issueKey({ plan: "three" });
    const client = await connect(text);
    expect((await client.next("welcome")).limits.subscriptions).toBe(3);
    const first = await subscribe(client, { stream: "quote", tickers: ["EURUSD", "GBPUSD"] });
    expect(first.subscriptions).toBe(2);
    const data = await subscribe(client, { stream: "quote", tickers: ["EURUSD", "AUDUSD", "NZDUSD", "USDCAD"] });
    expect(data).toMatchObject({ accepted: ["EURUSD", "AUDUSD"], subscriptions: 3 });
    expect(data.rejected).toMatchObject([
      { ticker: "NZDUSD", code: 42903, message: "too_many_subscriptions" },
      { ticker: "USDCAD", code: 42903, message: "too_many_subscriptions" },
    ]);
    expect(await client.ask("unsubscribe", { stream: "quote", tickers: ["GBPUSD"] })).toMatchObject({
      data: { subscriptions: 2 },
    });
    const again = await subscribe(client, { stream: "snapshot", tickers: ["EURUSD"] });
    expect(again).toMatchObject({ accepted: ["EURUSD"], rejected: [], subscriptions: 3 });
    await client.close();
  });

  test("subscriptions add up, are listed in order, and end with unsubscribe", async () => {
    await tick();
    const client = await connect();
    await subscribe(client, { stream: "quote", tickers: ["EURUSD"], snapshot: false });
    await subscribe(client, { stream: "kline", tickers: ["XAUUSD", "EURUSD"], timeframe: "H4", snapshot: false });
    expect(await client.ask("list")).toMatchObject({
      method: "list",
      data: {
        subscriptions: 3,
        items: [
          { stream: "quote", ticker: "EURUSD" },
          { stream: "kline", ticker: "XAUUSD", timeframe: "H4" },
          { stream: "kline", ticker: "EURUSD", timeframe: "H4" },
        ],
      },
    });
    const gone = await client.ask("unsubscribe", { stream: "quote", tickers: ["EURUSD", "GBPUSD", "NOSUCH"] });
    expect(gone).toMatchObject({
      method: "unsubscribe",
      data: { accepted: ["EURUSD", "GBPUSD"], rejected: [{ ticker: "NOSUCH", code: 40401 }], subscriptions: 2 },
    });
    await tick();
    await client.next("kline");
    expect(quotesOf(client)).toEqual([]);
    await client.close();
  });

  test("a kline subscription delivers the open kline with each tick, and its close once, on the clock", async () => {
    const startMs = Math.ceil(t.clock.now() / 60_000) * 60_000;
    await t.advance(startMs - t.clock.now() + 10_000);
    const client = await connect();
    const bid = await tick();
    await subscribe(client, { stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
    const open = await client.next("kline");
    expect(open).toMatchObject({ event: "snapshot", timeframe: "M1", closed: false, data: { time: startMs / 1000, close: bid } });
    const last = await tick();
    expect(await client.next("kline")).toMatchObject({
      event: "update",
      seq: open.seq + 1,
      closed: false,
      data: { close: last },
    });
    await t.advance(51_900, [client]);
    await fence(client);
    expect(client.received.filter(({ type }) => type === "kline")).toHaveLength(2);
    await t.advance(200, [client]);
    const closed = await client.next("kline");
    expect(closed).toMatchObject({
      event: "update",
      seq: open.seq + 2,
      closed: true,
      data: { time: startMs / 1000, close: last },
    });
    expect(Object.keys(closed.data)).toEqual(Object.keys(klineExample));
    const next = await connect();
    await subscribe(next, { stream: "kline", tickers: ["EURUSD"], timeframe: "M1" });
    expect(await next.next("kline")).toMatchObject({ event: "snapshot", seq: open.seq + 2, closed: true });
    await Promise.all([client.close(), next.close()]);
  });

  test("several streams of one ticker each have their own sequence", async () => {
    await tick();
    const client = await connect();
    for (const params of [{ stream: "quote" }, { stream: "snapshot" }, { stream: "kline", timeframe: "D1" }])
      await subscribe(client, { ...params, tickers: ["EURUSD"] });
    const before = [await client.next("quote"), await client.next("snapshot"), await client.next("kline")];
    const bid = await tick();
    const after = [await client.next("quote"), await client.next("snapshot"), await client.next("kline")];
    expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq + 1));
    expect(after).toMatchObject([{ data: { bid } }, { data: { bid } }, { data: { close: bid } }]);
    await client.close();
  });

  test("a repeated subscribe gets its own ack and does not duplicate records", async () => {
    await tick();
    const client = await connect();
    for (let count = 0; count < 2; count += 1) {
      expect(await subscribe(client, { stream: "quote", tickers: ["EURUSD"] })).toMatchObject({ subscriptions: 1 });
      expect(await client.next("quote")).toMatchObject({ event: "snapshot" });
    }
    await tick();
    await fence(client);
    expect(quotesOf(client).map(({ event }) => event)).toEqual(["snapshot", "snapshot", "update"]);
    await client.close();
  });

  test("ping returns the server's clock", async () => {
    const client = await connect();
    expect(await client.ask("ping")).toMatchObject({ method: "ping", data: { time_msc: t.clock.now() } });
    await client.close();
  });

  test("a subscribe with too many tickers or invalid fields is refused as a whole", async () => {
    const client = await connect();
    const many = Array.from({ length: 2_000 }, (_, index) => `T${index}`);
    expect(JSON.stringify(many).length).toBeLessThan(STREAM_MESSAGE_MAX_BYTES);
    const cases: [params: unknown, code: number, parameter: string][] = [
      [{ stream: "quote", tickers: many }, 40007, "tickers"],
      [{ stream: "quote", tickers: [] }, 40002, "tickers"],
      [{ stream: "quote" }, 40002, "tickers"],
      [{ tickers: ["EURUSD"] }, 40002, "stream"],
      [{ stream: "depth", tickers: ["EURUSD"] }, 40001, "stream"],
      [{ stream: "kline", tickers: ["EURUSD"] }, 40002, "timeframe"],
      [{ stream: "kline", tickers: ["EURUSD"], timeframe: "m1" }, 40004, "timeframe"],
      [{ stream: "quote", tickers: ["EURUSD"], timeframe: "M1" }, 40001, "timeframe"],
      [{ stream: "quote", tickers: "EURUSD" }, 40001, "tickers"],
    ];
    for (const [params, code, parameter] of cases) {
      const answer = await client.ask("subscribe", params);
      expect(answer).toMatchObject({ type: "error", code, data: { parameter } });
    }
    expect(await client.ask("list")).toMatchObject({ data: { subscriptions: 0 } });
    await client.close();
  });
});

describe("the id of a message", () => {
  test("the id of a message is echoed unchanged, need not be unique, and is optional", async () => {
    const client = await t.connect();
    const ids = [1, 1, 0, -7, "", "a", "a", "x".repeat(64), Number.MAX_SAFE_INTEGER, undefined];
    for (const id of ids) {
      client.send("ping", undefined, id);
      expect((await client.next("ack")).id).toBe(id ?? null);
    }
    for (const id of ["x".repeat(65), 1.5, {}, true, [1]]) {
      client.send("ping", undefined, id);
      expect(await client.next("error")).toMatchObject({ id: null, code: 40001, data: { parameter: "id" } });
    }
    client.send("subscribe", { stream: "quote" }, "mine");
    expect(await client.next("error")).toMatchObject({ id: "mine", code: 40002 });
    await client.close();
  });
});
