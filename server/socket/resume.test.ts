import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { STREAM_REPLAY_MAX_RECORDS, STREAM_RESUME_MAX_AGE_S, STREAM_RESUME_MAX_RECORDS } from "#lib/contract/limits";
import type { AckOf } from "#lib/contract/stream";
import { type StreamClient, TRANSPORTS } from "#lib/testing/stream-client";
import { fence } from "#lib/testing/stream-time";
import { type StreamService, startStreamService } from "#server/testing/stream-service";

vi.setConfig({ testTimeout: 15_000 });

let t: StreamService;
let price = 1.1;

beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

async function ticks(count: number, ticker = "EURUSD"): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    price = Number((price + 0.00001).toFixed(5));
    await t.tick(ticker, price, price + 0.0001);
  }
}

/** One character longer than a ticker may be. */
const LONG = "X".repeat(21);
const quotesOf = (client: StreamClient) => client.received.filter((message) => message.type === "quote");
const seqOf = (ticker: string) => t.markets.live.recent.seq(`quote:${ticker}`);

describe.each(TRANSPORTS)("resuming over %s", (transport) => {
  const connect = () => t.connect({ transport });

  /** Subscribes and returns the ack with all quotes that came right after it. */
  async function resume(client: StreamClient, tickers: readonly string[], from: object, more: object = {}) {
    client.send("subscribe", { stream: "quote", tickers, resume: from, ...more });
    const { data } = (await client.next("ack")) as AckOf<"subscribe">;
    await fence(client);
    return { data, quotes: quotesOf(client) };
  }

  /** The resume position of a client that disconnected at the newest quote of EURUSD. */
  async function leave() {
    await ticks(1);
    const client = await connect();
    client.send("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    const { epoch, seq } = await client.next("quote");
    await client.close();
    return { epoch, seq };
  }

  test("a resume delivers exactly the missed records in order, and then continues", async () => {
    const left = await leave();
    await ticks(5);
    const client = await connect();
    const { data, quotes } = await resume(client, ["EURUSD"], left);
    expect(data.resumed).toEqual(["EURUSD"]);
    expect(quotes.map(({ event, seq }) => [event, seq])).toEqual([1, 2, 3, 4, 5].map((step) => ["update", left.seq + step]));
    await ticks(1);
    await vi.waitFor(() => expect(quotesOf(client).at(-1)).toMatchObject({ event: "update", seq: left.seq + 6 }));
    await client.close();
  });

  test("a resume delivers nothing when nothing was missed", async () => {
    const left = await leave();
    const client = await connect();
    const { data, quotes } = await resume(client, ["EURUSD"], left);
    expect([data.resumed, quotes]).toEqual([["EURUSD"], []]);
    await client.close();
  });

  test("a resume reaches back a thousand records; a client that missed more gets a snapshot", async () => {
    const left = await leave();
    await ticks(STREAM_RESUME_MAX_RECORDS);
    const near = await connect();
    const missed = await resume(near, ["EURUSD"], left);
    expect(missed.data.resumed).toEqual(["EURUSD"]);
    expect(missed.quotes.map(({ seq }) => seq)).toEqual(
      Array.from({ length: STREAM_RESUME_MAX_RECORDS }, (_, index) => left.seq + 1 + index),
    );
    await ticks(1);
    const far = await connect();
    const { data, quotes } = await resume(far, ["EURUSD"], left);
    expect(data.resumed).toEqual([]);
    expect(quotes).toMatchObject([{ event: "snapshot", epoch: left.epoch, seq: left.seq + STREAM_RESUME_MAX_RECORDS + 1 }]);
    await Promise.all([near.close(), far.close()]);
  });

  test("a resume reaches back five minutes; a client that was away longer gets a snapshot", async () => {
    const left = await leave();
    await ticks(1);
    await t.advance(STREAM_RESUME_MAX_AGE_S * 1000);
    const near = await connect();
    expect((await resume(near, ["EURUSD"], left)).data.resumed).toEqual(["EURUSD"]);
    await t.advance(1, [near]);
    const far = await connect();
    const { data, quotes } = await resume(far, ["EURUSD"], left, { snapshot: false });
    expect(data.resumed).toEqual([]);
    expect(quotes).toMatchObject([{ event: "snapshot", seq: left.seq + 1 }]);
    await Promise.all([near.close(), far.close()]);
  });

  test("a resume with another epoch or an unknown sequence gets a snapshot of the current epoch", async () => {
    const left = await leave();
    for (const from of [
      { epoch: "other", seq: left.seq },
      { epoch: left.epoch, seq: left.seq + 1 },
    ]) {
      const client = await connect();
      const { data, quotes } = await resume(client, ["EURUSD"], from);
      expect(data.resumed).toEqual([]);
      expect(quotes).toMatchObject([{ event: "snapshot", ...left }]);
      await client.close();
    }
  });

  test("a resume checks the sequence of each ticker separately; a ticker without one starts with a snapshot", async () => {
    const { epoch } = await leave();
    await Promise.all([ticks(1, "GBPUSD"), ticks(1, "AUDUSD")]);
    const seq = { EURUSD: seqOf("EURUSD"), GBPUSD: seqOf("GBPUSD") + 7 };
    await ticks(2);
    const client = await connect();
    const { data, quotes } = await resume(client, ["EURUSD", "GBPUSD", "AUDUSD"], { epoch, seq });
    expect(data.resumed).toEqual(["EURUSD"]);
    expect(quotes.map(({ event, ticker, seq: at }) => [event, ticker, at])).toEqual([
      ["update", "EURUSD", seq.EURUSD + 1],
      ["update", "EURUSD", seq.EURUSD + 2],
      ["snapshot", "GBPUSD", seqOf("GBPUSD")],
      ["snapshot", "AUDUSD", seqOf("AUDUSD")],
    ]);
    await client.close();
  });

  test("a resume accepts its tickers in either case, as the list of tickers does", async () => {
    const { epoch } = await leave();
    await Promise.all([ticks(1, "GBPUSD")]);
    const seq = { eurusd: seqOf("EURUSD"), gbpusd: seqOf("GBPUSD") };
    const client = await connect();
    const { data } = await resume(client, ["eurusd", "gbpusd"], { epoch, seq });
    expect(data).toMatchObject({ accepted: ["EURUSD", "GBPUSD"], resumed: ["EURUSD", "GBPUSD"] });
    await client.close();
  });

  test("a resume with one number for several tickers, or with an invalid position, is refused", async () => {
    const client = await connect();
    const cases: [resume: unknown, code: number, parameter: string][] = [
      [{ epoch: "e", seq: 1 }, 40001, "resume.seq"],
      [{ epoch: "e", seq: { EURUSD: -1 } }, 40001, "resume.seq.EURUSD"],
      [{ epoch: "e", seq: { [LONG]: 1 } }, 40001, "resume.seq"],
      [{ epoch: "e" }, 40002, "resume.seq"],
      [{ seq: { EURUSD: 1 } }, 40002, "resume.epoch"],
      [{ epoch: "x".repeat(65), seq: { EURUSD: 1 } }, 40001, "resume.epoch"],
      ["e", 40001, "resume"],
    ];
    for (const [from, code, parameter] of cases) {
      const answer = await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD", "GBPUSD"], resume: from });
      expect(answer).toMatchObject({ type: "error", code, data: { parameter } });
    }
    await client.close();
  });

  test("a resume replays a limited number of records per message; the remaining tickers get a snapshot", async () => {
    const tickers = t.markets.live.catalogue.list().slice(0, 11);
    const names = tickers.map(({ ticker }) => ticker);
    const epoch = t.markets.live.epoch;
    const seq = Object.fromEntries(names.map((ticker) => [ticker, seqOf(ticker)]));
    for (const ticker of names) await ticks(STREAM_RESUME_MAX_RECORDS, ticker);
    const client = await connect();
    client.send("subscribe", { stream: "quote", tickers: names, resume: { epoch, seq } });
    const { data } = (await client.next("ack")) as AckOf<"subscribe">;
    expect(data.resumed).toEqual(names.slice(0, STREAM_REPLAY_MAX_RECORDS / STREAM_RESUME_MAX_RECORDS));
    await fence(client);
    const quotes = quotesOf(client);
    expect(quotes.at(-1)).toMatchObject({ event: "snapshot", ticker: names.at(-1) });
    // What exceeded the queue was merged, and the messages say how much.
    const counted = quotes.reduce((sum, { event, merged = 0 }) => sum + (event === "update" ? 1 + merged : 0), 0);
    expect(counted).toBe(STREAM_REPLAY_MAX_RECORDS);
    await client.close();
  });
});
