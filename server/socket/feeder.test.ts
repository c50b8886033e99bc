import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import {
  INGEST_REJECTIONS_LISTED_COUNT,
  STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT,
  STREAM_INGEST_UNACKED_MAX_TICKS,
} from "#lib/contract/limits";
import type { Ack, AckOf, ErrorMessage } from "#lib/contract/stream";
import type { IngestResult } from "#lib/contract/stream-ingest";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import { createLog } from "#lib/log";
import { createLeader } from "#lib/market/leader";
import type { Leader } from "#lib/market/ports";
import { testPrincipal } from "#lib/testing/principal";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { TRANSPORTS } from "#lib/testing/stream-client";
import { createTestMarket } from "#server/testing/market";
import { type StreamService, startStreamService } from "#server/testing/stream-service";
import { Feeder } from "./feeder";

vi.setConfig({ testTimeout: 15_000 });

let t: StreamService;
beforeAll(async () => {
  t = await startStreamService();
});
afterAll(() => t.close());

let bids = 0;
/** A tick of now, at a price that no tick before had. */
function tickOf(ticker = "EURUSD"): Tick {
  bids += 1;
  return { ticker, time_msc: t.clock.now(), bid: Number((1.1 + bids / 1e5).toFixed(5)), ask: 1.3 };
}
const ackOf = (answer: Ack | ErrorMessage) => {
  expect(answer).toMatchObject({ type: "ack", method: "ingest" });
  return (answer as AckOf<"ingest">).data;
};

describe.each(TRANSPORTS)("a feeder over %s", (transport) => {
  const feeder = async (settings: Parameters<StreamService["issueKey"]>[0] = {}) => {
    const { text } = await t.issueKey({ scopes: ["market:ingest"], ...settings });
    return t.connect({ transport, key: text });
  };

  test("ticks are in the market when their message is acked; rejected ones are named by their place", async () => {
    const client = await feeder();
    const [first, last] = [tickOf(), tickOf()];
    const ticks = [first, first, { ...first, ticker: "NOSUCH" }, { bid: 1 }, "text", last];
    expect(ackOf(await client.ask("ingest", { seq: 7, ticks }))).toEqual({
      seq: 7,
      received: 6,
      accepted: 2,
      rejected: 4,
      reasons: { duplicate: 1, unknown_ticker: 1, malformed_line: 2 },
      rejections: [
        { index: 1, reason: "duplicate" },
        { index: 2, reason: "unknown_ticker" },
        { index: 3, reason: "malformed_line", detail: "`ticker` is required." },
        { index: 4, reason: "malformed_line", detail: "The value must be an object." },
      ],
    });
    expect(t.markets.live.view.quote("EURUSD")?.bid).toBe(last.bid);
    // After a lost answer a feeder sends the message again.
    await client.close();
    const again = await feeder();
    expect(ackOf(await again.ask("ingest", { seq: 1, ticks: [last] }))).toMatchObject({ seq: 1, reasons: { duplicate: 1 } });
    await again.close();
  });

  test("messages that are sent without waiting are handled in order and acked one by one", async () => {
    const client = await feeder();
    const sent = Array.from({ length: 300 }, () => [tickOf(), tickOf()]);
    for (const [seq, ticks] of sent.entries()) client.send("ingest", { seq, ticks });
    for (const seq of sent.keys())
      expect((await client.next("ack")).data).toMatchObject({ seq, received: 2, accepted: 2, rejected: 0 });
    expect(t.markets.live.view.quote("EURUSD")?.bid).toBe(sent.at(-1)?.[1]?.bid);
    expect(client.received.filter(({ type }) => type === "error")).toEqual([]);
    await client.close();
  });

  test("a message out of sequence is refused once, the following ones are ignored until the expected one comes", async () => {
    const client = await feeder();
    ackOf(await client.ask("ingest", { seq: 3, ticks: [tickOf()] }));
    for (const seq of [5, 6, 7, 4]) client.send("ingest", { seq, ticks: [tickOf()] });
    expect(await client.next("error")).toMatchObject({
      message: "invalid_parameter",
      data: { parameter: "seq", expected_seq: 4, detail: expect.stringContaining("`seq` must be 4") },
    });
    expect((await client.next("ack")).data).toMatchObject({ seq: 4, accepted: 1 });
    expect(client.received.filter(({ type }) => type === "error")).toHaveLength(1);
    await client.close();
  });

  test("only a key with the scope pushes, only tickers of the key, and a key for ticks alone reads nothing", async () => {
    const reader = await t.connect({ transport });
    expect(await reader.ask("ingest", { seq: 1, ticks: [tickOf()] })).toMatchObject({
      type: "error",
      message: "insufficient_scope",
      data: { required: "market:ingest" },
    });
    await reader.close();
    const client = await feeder({ tickers: ["XAUUSD"] });
    expect(ackOf(await client.ask("ingest", { seq: 1, ticks: [tickOf()] }))).toMatchObject({ reasons: { unknown_ticker: 1 } });
    expect(await client.ask("subscribe", { stream: "quote", tickers: ["XAUUSD"] })).toMatchObject({
      message: "insufficient_scope",
      data: { required: "market:stream" },
    });
    await client.close();
  });

  test("a message without ticks or with too many is refused as a whole", async () => {
    const client = await feeder();
    const many = Array.from({ length: STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT + 1 }, () => ({ bid: 1 }));
    for (const ticks of [[], many, undefined])
      expect(await client.ask("ingest", { seq: 1, ticks })).toMatchObject({ type: "error", data: { parameter: "ticks" } });
    expect(ackOf(await client.ask("ingest", { seq: 1, ticks: [tickOf()] })).accepted).toBe(1);
    await client.close();
  });
});

/** The leader of a venue in this process, which takes ticks or, with null, none. */
const leading = (push: Leader["push"] | null) =>
  createLeader({ market: createTestMarket("live", createSandboxCatalogue()), push, mend: null, clock: systemClock });

/** A feeder on a market that the test holds in its hands. */
function openFeeder(leader: Pick<Leader, "push" | "pushMaxTicks">, allowed = () => true) {
  const answers: (IngestResult | { readonly id: string; readonly expectedSeq: number })[] = [];
  const verdict = { limit: 1, remaining: 1, resetS: 1, retryAfterS: 3 };
  const feeder = new Feeder({
    market: { leader: leader as Leader },
    access: { takeTicks: async () => ({ ...verdict, allowed: allowed() }) as never },
    admission: { origin: null, address: "192.0.2.1" },
    principal: () => testPrincipal({ scopes: ["market:ingest"] }),
    closed: () => false,
    log: createLog("silent"),
  });
  const take = (seq: number, count = 1) =>
    feeder.take(
      {
        seq,
        ticks: Array.from({ length: count }, (_, index) => ({ ticker: "EURUSD", time_msc: seq * 1_000 + index, bid: 1, ask: 2 })),
      },
      {
        done: (result) => answers.push(result),
        failed: ({ id }, expectedSeq) => answers.push({ id, expectedSeq }),
      },
    );
  return { take, answers };
}

describe("what a feeder sends", () => {
  test("after a failure nothing behind it is taken until it comes again, so no tick is overtaken", async () => {
    const taken: number[] = [];
    let away = true;
    const push = vi.fn(async (ticks: readonly Tick[]) => {
      if (away) throw new Fault("service_unavailable", { detail: "Away.", retry_after: 5 });
      taken.push(...ticks.map(({ time_msc }) => time_msc / 1_000));
      return ticks.map(() => null);
    });
    const { take, answers } = openFeeder(leading(push));
    for (const seq of [1, 2, 3]) take(seq);
    await vi.waitFor(() => expect(answers).toEqual([{ id: "service_unavailable", expectedSeq: 1 }]));
    away = false;
    // Sent before the error was read.
    for (const seq of [4, 5]) take(seq);
    for (const seq of [1, 2, 3, 4]) take(seq);
    await vi.waitFor(() => expect(answers).toHaveLength(5));
    expect(taken).toEqual([1, 2, 3, 4]);
    expect(answers.slice(1)).toMatchObject([1, 2, 3, 4].map((seq) => ({ seq, accepted: 1 })));
  });

  test("ticks that wait for their ack are bounded; the messages behind them are refused and come again", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const push = async (ticks: readonly Tick[]) => {
      await held;
      return ticks.map(() => null);
    };
    const { take, answers } = openFeeder(leading(push));
    const messages = STREAM_INGEST_UNACKED_MAX_TICKS / STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT;
    for (let seq = 0; seq < messages + 5; seq += 1) take(seq, STREAM_INGEST_TICKS_PER_MESSAGE_MAX_COUNT);
    expect(answers).toEqual([{ id: "rate_limited", expectedSeq: messages }]);
    release();
    await vi.waitFor(() => expect(answers).toHaveLength(messages + 1));
    take(messages);
    await vi.waitFor(() => expect(answers.at(-1)).toMatchObject({ seq: messages, accepted: 1 }));
  });

  test("past the limit of pushed ticks a message is refused, and can be sent again", async () => {
    let allowed = false;
    const { take, answers } = openFeeder(
      leading(async (ticks) => ticks.map(() => null)),
      () => allowed,
    );
    take(9);
    await vi.waitFor(() => expect(answers).toEqual([{ id: "rate_limited", expectedSeq: 9 }]));
    allowed = true;
    take(9);
    await vi.waitFor(() => expect(answers.at(-1)).toMatchObject({ seq: 9, accepted: 1 }));
  });

  test("a node without the lease forwards, in batches whose rejections its receipt can name", async () => {
    const bodies: number[] = [];
    const push = async (ticks: readonly Tick[]) => {
      bodies.push(ticks.length);
      return ticks.map(({ time_msc }) => (time_msc % 1_000 === 2 ? ("too_late" as const) : null));
    };
    const { take, answers } = openFeeder({ push, pushMaxTicks: INGEST_REJECTIONS_LISTED_COUNT });
    for (const seq of [1, 2, 3, 4]) take(seq, 40);
    await vi.waitFor(() => expect(answers).toHaveLength(4));
    expect(bodies).toEqual([80, 80]);
    for (const answer of answers) expect(answer).toMatchObject({ accepted: 39, rejections: [{ index: 2, reason: "too_late" }] });
  });

  test("a venue that takes no ticks says so", async () => {
    const { take, answers } = openFeeder(leading(null));
    take(1);
    await vi.waitFor(() => expect(answers).toEqual([{ id: "service_unavailable", expectedSeq: 1 }]));
  });
});
