import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { STREAM_NO_PROGRESS_TIMEOUT_S, STREAM_QUEUE_CONFLATE_BYTES, STREAM_QUEUE_MAX_BYTES } from "#lib/contract/limits";
import { quoteExample } from "#lib/contract/quote";
import type { StreamEncoding } from "#lib/contract/stream";
import { MINUTE_S } from "#lib/units";
import { eventOf } from "#server/testing/events";
import { createStreamReader, messageIn } from "#server/testing/stream-reader";
import { Outbox } from "./outbox";
import { baselineOf, controlOf, type Outgoing, updateOf } from "./outgoing";

/** Makes a record so long that a few fill the queue. */
const PAD = { pad: "x".repeat(40_000) };
const TICKERS = ["EURUSD", "GBPUSD"] as const;
const STALLED_MS = STREAM_NO_PROGRESS_TIMEOUT_S * 1000;

/** The encoding of all messages of a test. */
let encoding: StreamEncoding;
let controls = 0;
const control = (bytes = 0): Outgoing => {
  controls += 1;
  const data = { time_msc: controls, pad: "x".repeat(bytes) };
  return controlOf({ type: "ack", id: controls, method: "ping", code: 0, message: "success", data }, encoding);
};
const quote = (seq: number, ticker = "EURUSD", pad: object = PAD) =>
  eventOf({ ...quoteExample, ticker, ...pad } as typeof quoteExample, { seq });

/** A market whose records follow their sequences: quotes, and klines that each stay open for a while and then close. */
function createSource() {
  const sequences = new Map<string, number>();
  const next = (topic: string) => {
    const seq = (sequences.get(topic) ?? 0) + 1;
    sequences.set(topic, seq);
    return seq;
  };
  const current = new Map<string, ReturnType<typeof eventOf>>();
  let minute = 0;
  const keep = (event: ReturnType<typeof eventOf>) => {
    current.set(event.topic, event);
    return updateOf(event, encoding);
  };
  const kline = (time: number, closed: boolean) =>
    keep(
      eventOf({ ...klineExample, timeframe: "M1", time: time * MINUTE_S, ...PAD } as typeof klineExample, {
        seq: next("kline"),
        closed,
      }),
    );
  return {
    sequences,
    quote: (ticker: string) => keep(quote(next(ticker), ticker)),
    /** One more state of the open kline. */
    open: () => kline(minute, false),
    /** The open kline closes. */
    close: () => {
      minute += 1;
      return kline(minute - 1, true);
    },
    /** A newer kline opens before the previous one closes. */
    overlap: () => {
      minute += 1;
      return [kline(minute, false), kline(minute - 1, true)];
    },
    /** The current record of a topic, as sent on subscribe. */
    baseline: (topic: string) => {
      const event = current.get(topic);
      return event === undefined ? [] : [baselineOf(event, encoding)];
    },
  };
}

type Step = "quote0" | "quote1" | "open" | "close" | "overlap" | "control" | "baseline" | "read1" | "read3";
const steps = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<Step>("quote0", "quote1", "open") },
    { weight: 3, arbitrary: fc.constantFrom<Step>("close", "overlap", "control", "baseline") },
    { weight: 1, arbitrary: fc.constantFrom<Step>("read1", "read3") },
  ),
  { minLength: 20, maxLength: 150 },
);

function messagesOf(step: Step, source: ReturnType<typeof createSource>): Outgoing[] {
  if (step === "quote0" || step === "quote1") return [source.quote(TICKERS[step === "quote0" ? 0 : 1])];
  if (step === "open") return [source.open()];
  if (step === "close") return [source.close()];
  if (step === "overlap") return source.overlap();
  if (step === "control") return [control()];
  if (step === "baseline") return source.baseline("quote:EURUSD");
  return [];
}

const mustArrive = ({ event, baseline }: Outgoing) => event === undefined || baseline || (event.type === "kline" && event.closed);

/** Asserts that sequences rise and that each jump equals the count in its message. */
function expectExplained(taken: readonly Outgoing[]): void {
  const last = new Map<string, number>();
  for (const message of taken) {
    const { event, merged, baseline } = message;
    expect(message.bytes).toBe(Buffer.from(message.payload as string).length);
    if (event === undefined) continue;
    const before = last.get(event.topic) ?? 0;
    if (baseline) expect(event.seq).toBeGreaterThanOrEqual(before);
    else {
      expect([event.topic, event.seq]).toEqual([event.topic, before + 1 + merged]);
      expect(messageIn(message).merged).toBe(merged > 0 ? merged : undefined);
    }
    last.set(event.topic, event.seq);
  }
}

describe.each(["json", "msgpack"] as const)("the queue of a connection that takes %s", (each) => {
  beforeEach(() => {
    encoding = each;
  });

  test("the queue keeps sequences in order, accounts for every jump, and loses no message that must arrive, for any messages and any reader", () => {
    fc.assert(
      fc.property(steps, (script) => {
        const source = createSource();
        const { outbox, taken, take, counts } = createStreamReader(0, encoding);
        const pushed: Outgoing[] = [];
        let held = 0;
        for (const step of script) {
          if (step === "read1" || step === "read3") take(step === "read1" ? 1 : 3);
          for (const message of messagesOf(step, source)) {
            pushed.push(message);
            outbox.push(message);
            const waiting = pushed.filter((each) => mustArrive(each) && !taken.some(({ payload }) => payload === each.payload));
            held = Math.max(
              held,
              waiting.reduce((sum, { bytes }) => sum + bytes, 0),
            );
            const newest = 3 * (message.bytes + PAD.pad.length + 500);
            expect(outbox.bytes).toBeLessThanOrEqual(Math.max(STREAM_QUEUE_CONFLATE_BYTES, 2 * (held + newest)));
          }
        }
        take(Number.POSITIVE_INFINITY);
        expect(outbox.bytes).toBe(0);
        expectExplained(taken);
        const kept = (messages: readonly Outgoing[]) =>
          messages
            .filter(mustArrive)
            .map(({ event, payload, baseline }) => (event ? [event.topic, event.seq, baseline] : payload));
        expect(kept(taken)).toEqual(kept(pushed));
        for (const [topic, seq] of source.sequences) {
          const name = topic === "kline" ? "kline:EURUSD:M1" : `quote:${topic}`;
          expect(taken.findLast(({ event }) => event?.topic === name)?.event?.seq).toBe(seq);
        }
        expect([counts.sent, counts.merged]).toEqual([taken.length, pushed.length - taken.length]);
      }),
      { numRuns: 150 },
    );
  });

  test("a short queue delivers every message unchanged", () => {
    const { outbox, taken, take } = createStreamReader(0, encoding);
    const pushed = Array.from({ length: 20 }, (_, index) => updateOf(quote(index + 1), encoding));
    for (const message of pushed) outbox.push(message);
    expect(outbox.bytes).toBe(pushed.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(outbox.slowness(0)).toBeUndefined();
    take(8);
    for (const message of pushed) outbox.push(message);
    take(Number.POSITIVE_INFINITY);
    expect(taken).toEqual([...pushed, ...pushed]);
  });

  test("a queue merges past one mebibyte and makes the reader slow past four, not at them", () => {
    const filled = (bytes: number, records: readonly Outgoing[]) => {
      const reader = createStreamReader(0, encoding);
      const rest = bytes - records.reduce((sum, record) => sum + record.bytes, 0);
      const filler = control(rest - 1_000);
      for (const message of [control(rest - 1_000 + (rest - filler.bytes)), ...records]) reader.outbox.push(message);
      return reader;
    };
    const quotes = [1, 2].map((seq) => updateOf(quote(seq), encoding));
    const [full, over] = [0, 1].map((more) => filled(STREAM_QUEUE_CONFLATE_BYTES + more, quotes));
    expect([full?.counts.merged, full?.outbox.bytes]).toEqual([0, STREAM_QUEUE_CONFLATE_BYTES]);
    expect(over?.counts.merged).toBe(1);
    const slowness = [0, 1].map((more) => filled(STREAM_QUEUE_MAX_BYTES + more, []).outbox.slowness(0));
    expect(slowness).toEqual([undefined, expect.stringMatching(/queued after merging/)]);
  });

  test("a queue over one mebibyte keeps the newest record of each topic, with the number of records it replaces", () => {
    const { outbox, taken, take } = createStreamReader(0, encoding);
    const count = 100;
    for (let seq = 1; seq <= count; seq += 1) for (const ticker of TICKERS) outbox.push(updateOf(quote(seq, ticker), encoding));
    expect(outbox.bytes).toBeLessThanOrEqual(STREAM_QUEUE_CONFLATE_BYTES);
    take(Number.POSITIVE_INFINITY);
    expect(taken.length).toBeLessThan(count);
    expectExplained(taken);
  });

  test("a queued open state of a kline is dropped when its close is queued behind it, even if a newer kline is already open", () => {
    const { outbox, taken, take } = createStreamReader(0, encoding);
    const source = createSource();
    for (const message of [source.open(), ...source.overlap(), source.open()]) outbox.push(message);
    outbox.push(control(STREAM_QUEUE_CONFLATE_BYTES));
    take(Number.POSITIVE_INFINITY);
    const klines = taken.filter(({ event }) => event !== undefined);
    expect(klines.map(({ event, merged }) => [event?.seq, merged])).toEqual([
      [3, 2],
      [4, 0],
    ]);
    expect(klines[0]?.event).toMatchObject({ closed: true });
  });

  test("messages that cannot be merged are never dropped; too many of them make the reader slow at once", () => {
    const { outbox, taken, take } = createStreamReader(0, encoding);
    const half = STREAM_QUEUE_MAX_BYTES / 2;
    const pushed = [control(half), control(half - 1_000)];
    for (const message of pushed) outbox.push(message);
    expect(outbox.slowness(0)).toBeUndefined();
    pushed.push(control(2_000));
    outbox.push(pushed[2] as Outgoing);
    expect(outbox.slowness(0)).toMatch(/queued after merging/);
    take(Number.POSITIVE_INFINITY);
    expect(taken).toEqual(pushed);
  });

  test("only messages that cannot be merged make a reader slow at once", () => {
    const { outbox } = createStreamReader(0, encoding);
    outbox.push(control(STREAM_QUEUE_MAX_BYTES * 0.6));
    for (let seq = 1; outbox.bytes <= STREAM_QUEUE_MAX_BYTES && seq < 100; seq += 1) outbox.push(updateOf(quote(seq), encoding));
    expect(outbox.slowness(0)).toBeUndefined();
  });

  test("a queue that was longer merges again past one mebibyte once it has drained", () => {
    const { outbox, take } = createStreamReader(0, encoding);
    for (let count = 0; count < 30; count += 1) outbox.push(control(100_000));
    take(29);
    for (let seq = 1; seq < 200; seq += 1) {
      outbox.push(updateOf(quote(seq), encoding));
      expect(outbox.bytes).toBeLessThanOrEqual(STREAM_QUEUE_CONFLATE_BYTES);
    }
  });

  test("a cleared queue is empty and sends nothing", () => {
    const { outbox, taken, take } = createStreamReader(0, encoding);
    outbox.push(control());
    outbox.clear();
    take(1);
    expect([outbox.bytes, taken]).toEqual([0, []]);
  });
});

describe("writing", () => {
  test("messages since the last flush go out in one write, after a single request for a flush", () => {
    const { outbox, writes, flush } = createStreamReader(10);
    const messages = Array.from({ length: 50 }, () => control());
    for (const message of messages) outbox.push(message);
    expect(writes).toEqual([]);
    expect(flush()).toBe(1);
    expect(writes).toEqual([messages]);
    outbox.push(control());
    expect(flush()).toBe(1);
    expect(writes).toHaveLength(2);
  });

  test("one write is no larger than a socket takes, and writing continues while the socket is ready", () => {
    const { outbox, writes, taken, take } = createStreamReader(0, encoding);
    const messages = Array.from({ length: 20 }, () => control(10_000));
    for (const message of messages) outbox.push(message);
    take(2);
    expect(writes).toHaveLength(2);
    for (const write of writes) expect(write.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(80_000);
    take(10);
    expect(taken).toEqual(messages);
  });
});

describe("a reader", () => {
  test("a reader is slow after ten seconds in which none of the waiting data left", () => {
    const { outbox, take } = createStreamReader(0, encoding);
    outbox.push(control());
    expect(outbox.slowness(1_000)).toBeUndefined();
    expect(outbox.slowness(1_000 + STALLED_MS - 1)).toBeUndefined();
    expect(outbox.slowness(1_000 + STALLED_MS)).toMatch(/10 seconds/);
    take(1);
    expect(outbox.slowness(1_000 + STALLED_MS)).toBeUndefined();
  });

  test("a reader is not slow while some data leaves now and then, or while nothing waits", () => {
    const { outbox, take } = createStreamReader(0, encoding);
    let nowMs = 0;
    for (let round = 0; round < 5; round += 1) {
      // Each fills a write, so that something always waits.
      outbox.push(control(100_000));
      outbox.push(control(100_000));
      nowMs += STALLED_MS - 1;
      take(1);
      expect([outbox.slowness(nowMs), outbox.bytes > 0]).toEqual([undefined, true]);
    }
    take(Number.POSITIVE_INFINITY);
    expect(outbox.slowness(nowMs + 1)).toBeUndefined();
    expect(outbox.slowness(nowMs + 10 * STALLED_MS)).toBeUndefined();
    outbox.push(control());
    expect(outbox.slowness(nowMs + 11 * STALLED_MS - 1)).toBeUndefined();
  });

  test("a reader whose queue is empty is slow all the same while what was written does not reach the network", () => {
    let pending = true;
    const tally = { sent: () => undefined, merged: () => undefined, closed: () => undefined };
    const wire = { encoding, ready: () => true, write: () => undefined, progress: () => 7, pending: () => pending };
    const outbox = new Outbox(wire, { add: (due) => due.flush() }, tally);
    outbox.push(control());
    expect([outbox.bytes, outbox.slowness(0), outbox.slowness(STALLED_MS - 1)]).toEqual([0, undefined, undefined]);
    expect(outbox.slowness(STALLED_MS)).toMatch(/10 seconds/);
    pending = false;
    expect(outbox.slowness(STALLED_MS)).toBeUndefined();
    pending = true;
    expect(outbox.slowness(STALLED_MS + 1)).toBeUndefined();
  });

  test("a queue that cannot be merged is not tried again before it has doubled", () => {
    let merges = 0;
    let writes = 0;
    const tally = { sent: () => undefined, merged: () => (merges += 1), closed: () => undefined };
    const wire = { encoding, ready: () => writes > 0, write: () => (writes -= 1), progress: () => 0, pending: () => true };
    const outbox = new Outbox(wire, { add: () => undefined }, tally);
    const fill = (bytes: number) => {
      while (outbox.bytes <= bytes) outbox.push(control(100_000));
    };
    fill(STREAM_QUEUE_CONFLATE_BYTES);
    expect(merges).toBe(1);
    fill(2 * STREAM_QUEUE_CONFLATE_BYTES - 200_000);
    writes = 1;
    outbox.flush();
    fill(2 * STREAM_QUEUE_CONFLATE_BYTES - 200_000);
    expect(merges).toBe(1);
    fill(2 * STREAM_QUEUE_CONFLATE_BYTES + 300_000);
    expect(merges).toBe(2);
    fill(4 * STREAM_QUEUE_CONFLATE_BYTES - 200_000);
    expect(merges).toBe(2);
  });
});
