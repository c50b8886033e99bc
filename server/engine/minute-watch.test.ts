import fc from "fast-check";
import { expect, test } from "vitest";
import { createMinuteWatch } from "./minute-watch";

const IDLE_MS = 10_000;
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 7, 12);
const ENDED_KEPT_COUNT = 1_000;
const START_S = START_MS / 1000;

/** The watched minutes of all takes together, as offsets from the start. */
function minutesOf(taken: ReturnType<ReturnType<typeof createMinuteWatch>["take"]>, ticker = "EURUSD"): number[] {
  const ranges = new Map(taken.filter((range) => range.ticker === ticker).map((range) => [range.from, range.to]));
  const minutes: number[] = [];
  for (const [from, to] of ranges) for (let time = from; time < to; time += 60) minutes.push((time - START_S) / 60);
  return minutes.sort((a, b) => a - b);
}

type Range = { from: number; to: number };

/** What was watched by the definition: from when to when it was, without the minutes that a late tick took out, or that were lost. */
function createModel() {
  let spans: Range[] = [];
  let lives = false;
  return {
    alive(at: number) {
      const last = spans.at(-1);
      if (lives && last !== undefined && at - last.to <= IDLE_MS) last.to = Math.max(last.to, at);
      else spans.push({ from: at, to: at });
      lives = true;
    },
    lost(since: number) {
      spans = spans.map(({ from, to }) => ({ from, to: Math.max(from, Math.min(to, since)) }));
      lives = false;
    },
    late(at: number) {
      const from = Math.floor(at / MINUTE_MS) * MINUTE_MS;
      const to = from + MINUTE_MS;
      spans = spans.flatMap((span) =>
        to <= span.from || from > span.to
          ? [span]
          : [
              { from: span.from, to: Math.max(span.from, from) },
              { from: to, to: Math.max(to, span.to) },
            ],
      );
    },
    minutes: () =>
      Array.from({ length: 60 }, (_, minute) => minute).filter((minute) => {
        const startMs = START_MS + minute * MINUTE_MS;
        return spans.some(({ from, to }) => from <= startMs && to >= startMs + MINUTE_MS);
      }),
  };
}

test("a minute counts as watched when the connection lived throughout, unless a tick came too late or the end lay further back", () => {
  const tickers = ["EURUSD", "XAUUSD"] as const;
  const kind = fc.constantFrom<("alive" | "late" | "lost" | "take")[]>(
    ...Array(40).fill("alive"),
    "late",
    "late",
    "lost",
    "take",
  );
  // In steps of five seconds, so that instants fall on the edges of minutes; ten are the longest silence.
  const after = fc.oneof({ weight: 40, arbitrary: fc.constant(2) }, { weight: 10, arbitrary: fc.nat(1) }, fc.nat(30));
  const step = fc.record({ kind, after, back: fc.oneof(fc.nat(3), fc.nat(60)), pick: fc.nat(1) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 250, size: "max" }), (steps) => {
      const watch = createMinuteWatch();
      const models = { EURUSD: createModel(), XAUUSD: createModel() };
      const taken: ReturnType<typeof watch.take> = [];
      const take = () => {
        for (const range of watch.take()) {
          // One without minutes only takes back what was said of it before.
          const known = taken.some(({ ticker, from, to }) => ticker === range.ticker && from === range.from && to > from);
          expect(range.to > range.from || known).toBe(true);
          taken.push(range);
        }
      };
      let now = START_MS;
      for (const { kind, after, back, pick } of steps) {
        if (kind === "alive") now += after * 5_000;
        const ticker = tickers[pick] ?? tickers[0];
        const past = now - back * 5_000;
        if (kind === "take") take();
        else if (kind === "alive") for (const each of tickers) watch.alive(each, now, IDLE_MS);
        else watch[kind](ticker, past);
        if (kind === "alive") for (const each of tickers) models[each].alive(now);
        else if (kind !== "take") models[ticker][kind](past);
      }
      take();
      for (const ticker of tickers) expect(minutesOf(taken, ticker)).toEqual(models[ticker].minutes());
    }),
  );
});

test("nothing is said of a connection that watched no whole minute", () => {
  const watch = createMinuteWatch();
  expect(watch.take()).toEqual([]);
  watch.alive("EURUSD", START_MS + 1, MINUTE_MS);
  watch.alive("EURUSD", START_MS + MINUTE_MS, MINUTE_MS);
  expect(watch.take()).toEqual([]);
  watch.lost("EURUSD", START_MS + MINUTE_MS);
  expect(watch.take()).toEqual([]);
});

test("the last thousand ranges that have ended can still lose a minute", () => {
  const watch = createMinuteWatch();
  const at = (range: number) => START_MS + 2 * range * MINUTE_MS;
  for (let range = 0; range <= ENDED_KEPT_COUNT; range += 1) {
    for (const timeMs of [at(range), at(range) + MINUTE_MS]) watch.alive("EURUSD", timeMs, MINUTE_MS);
    watch.lost("EURUSD", at(range) + MINUTE_MS);
  }
  expect(watch.take()).toHaveLength(ENDED_KEPT_COUNT + 1);
  for (const range of [0, 1]) watch.late("EURUSD", at(range));
  expect(watch.take()).toEqual([{ ticker: "EURUSD", from: at(1) / 1_000, to: at(1) / 1_000 }]);
});

test("a lost connection ends the watch, and another one begins a new one", () => {
  const watch = createMinuteWatch();
  watch.alive("EURUSD", START_MS, Number.POSITIVE_INFINITY);
  watch.alive("EURUSD", START_MS + 2.5 * MINUTE_MS, Number.POSITIVE_INFINITY);
  watch.lost("EURUSD", START_MS + 2.6 * MINUTE_MS);
  watch.alive("EURUSD", START_MS + 2.6 * MINUTE_MS, Number.POSITIVE_INFINITY);
  watch.alive("EURUSD", START_MS + 5 * MINUTE_MS, Number.POSITIVE_INFINITY);
  expect(minutesOf(watch.take())).toEqual([0, 1, 3, 4]);
  expect(watch.take()).toEqual([]);
});

test("a tick that came too late takes its minute out, although it was taken before", () => {
  const watch = createMinuteWatch();
  for (let at = START_MS; at <= START_MS + 5 * MINUTE_MS; at += 5_000) {
    watch.alive("EURUSD", at, IDLE_MS);
    watch.alive("XAUUSD", at, IDLE_MS);
  }
  const before = watch.take();
  expect(minutesOf(before)).toEqual([0, 1, 2, 3, 4]);
  watch.late("EURUSD", START_MS + 2.5 * MINUTE_MS);
  watch.late("XAUUSD", START_MS + 0.5 * MINUTE_MS);
  const after = [...before, ...watch.take()];
  expect(minutesOf(after)).toEqual([0, 1, 3, 4]);
  expect(minutesOf(after, "XAUUSD")).toEqual([1, 2, 3, 4]);
});

test("a late tick takes out its own minute only, also where the connection was lost right before it, or had not lived so far", () => {
  const watch = createMinuteWatch();
  for (const [from, to] of [
    [0, 2],
    [2, 4],
    [5, 7],
  ] as const) {
    for (const minute of [from, to]) watch.alive("EURUSD", START_MS + minute * MINUTE_MS, Number.POSITIVE_INFINITY);
    if (to < 7) watch.lost("EURUSD", START_MS + to * MINUTE_MS);
  }
  const taken = watch.take();
  for (const minute of [2, 7, 9]) watch.late("EURUSD", START_MS + (minute + 0.5) * MINUTE_MS);
  taken.push(...watch.take());
  expect(minutesOf(taken)).toEqual([0, 1, 3, 5, 6]);
  watch.alive("EURUSD", START_MS + 9 * MINUTE_MS, Number.POSITIVE_INFINITY);
  expect(minutesOf([...taken, ...watch.take()])).toEqual([0, 1, 3, 5, 6, 8]);
});

test("a connection that stopped pricing watched nothing since its last price, whatever was taken before", () => {
  const watch = createMinuteWatch();
  const [quiet, other] = ["EURUSD", "XAUUSD"];
  const live = (fromMs: number, toMs: number) => {
    for (let at = fromMs; at <= toMs; at += 5_000) for (const ticker of [quiet, other]) watch.alive(ticker, at, IDLE_MS);
    return watch.take();
  };
  const taken = live(START_MS, START_MS + 6 * MINUTE_MS);
  // A late tick splits the range; the silence reaches back beyond it.
  watch.late(quiet, START_MS + 4.5 * MINUTE_MS);
  taken.push(...live(START_MS + 6 * MINUTE_MS, START_MS + 7 * MINUTE_MS));
  expect(minutesOf(taken)).toEqual([0, 1, 2, 3, 5, 6]);
  watch.lost(quiet, START_MS + 1.5 * MINUTE_MS);
  taken.push(...live(START_MS + 7 * MINUTE_MS + 5_000, START_MS + 9 * MINUTE_MS));
  expect(minutesOf(taken)).toEqual([0, 8]);
  expect(minutesOf(taken, other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("of pushed ticks each ticker speaks for itself", () => {
  const watch = createMinuteWatch();
  for (let at = START_MS; at <= START_MS + 2 * MINUTE_MS; at += 10_000) watch.pushed("EURUSD", at);
  for (let at = START_MS; at <= START_MS + 2 * MINUTE_MS; at += 10_001) watch.pushed("XAUUSD", at);
  const taken = watch.take();
  expect(minutesOf(taken, "EURUSD")).toEqual([0, 1]);
  expect(minutesOf(taken, "XAUUSD")).toEqual([]);
});
