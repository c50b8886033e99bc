import fc from "fast-check";
import { expect, test } from "vitest";
import { createMinuteWatch } from "./minute-watch";

const IDLE_MS = 10_000;
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 7, 12);
const START_S = START_MS / 1000;

/** The watched minutes of all takes together, as offsets from the start. */
function minutesOf(taken: ReturnType<ReturnType<typeof createMinuteWatch>["take"]>, ticker = "EURUSD"): number[] {
  const ranges = new Map(taken.filter((range) => range.ticker === ticker).map((range) => [range.from, range.to]));
  const minutes: number[] = [];
  for (const [from, to] of ranges) for (let time = from; time < to; time += 60) minutes.push((time - START_S) / 60);
  return minutes.sort((a, b) => a - b);
}

test("a minute counts as watched only when the connection lived from its first to its last millisecond", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 15_000 }), { minLength: 1, maxLength: 60 }),
      fc.nat(MINUTE_MS),
      (steps, lead) => {
        const watch = createMinuteWatch();
        let now = START_MS + lead;
        const lives = steps.map((step) => {
          now += step;
          return now;
        });
        const taken = lives.flatMap((time, index) => {
          watch.alive("EURUSD", time, IDLE_MS);
          return index % 5 === 0 ? watch.take() : [];
        });
        const watched = minutesOf([...taken, ...watch.take()]);
        // By the definition: signs of life around and throughout the minute, none further apart than the longest silence.
        const expected = Array.from({ length: 20 }, (_, minute) => minute).filter((minute) => {
          const [fromMs, toMs] = [START_MS + minute * MINUTE_MS, START_MS + (minute + 1) * MINUTE_MS];
          const first = lives.findLastIndex((time) => time <= fromMs);
          const last = lives.findIndex((time) => time >= toMs);
          if (first < 0 || last < 0) return false;
          return lives.slice(first + 1, last + 1).every((time, index) => time - (lives[first + index] ?? 0) <= IDLE_MS);
        });
        expect(watched).toEqual(expected);
      },
    ),
  );
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
