import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { createLog } from "#lib/log";
import { type Feed, Refused, Upset } from "./feed";
import { superviseFeed } from "./supervise";

const log = createLog("silent");
const tick = (time_msc: number): Tick => ({ ticker: "EURUSD", time_msc, bid: 1, ask: 1 });

function start(feed: Feed) {
  const clock = manualClock(0);
  const stopping = new AbortController();
  const taken: number[] = [];
  const states: (string | null)[] = [];
  const take = async (ticks: readonly Tick[]) => void taken.push(...ticks.map(({ time_msc }) => time_msc));
  const onState = (problem: string | null) => void states.push(problem);
  const ended = superviseFeed({ feed, name: "test", take, onState, clock, log }, stopping.signal);
  return { clock, taken, states, ended, stop: () => stopping.abort() };
}

describe("supervised feed", () => {
  test("a feed that ends by itself is not restarted", async () => {
    let starts = 0;
    const { taken, ended } = start(async function* () {
      starts += 1;
      yield [tick(1), tick(2)];
    });
    await ended;
    expect([starts, taken]).toEqual([1, [1, 2]]);
  });

  test("a failed feed is restarted, and its problem is reported until it delivers again", async () => {
    let starts = 0;
    const { clock, taken, states, ended } = start(async function* () {
      starts += 1;
      if (starts < 3) throw new Error("lost");
      yield [tick(starts)];
    });
    await clock.advance(60_000);
    await ended;
    expect(taken).toEqual([3]);
    expect(states.map((state) => state !== null)).toEqual([true, true, false]);
  });

  test("a source that refuses is asked again after 1, 5 and 15 minutes, then every 15", async () => {
    const starts: number[] = [];
    const { clock, states, stop, ended } = start(async function* () {
      yield* await Promise.resolve([]);
      starts.push(clock.now() / 60_000);
      throw new Refused("the key is wrong");
    });
    await clock.advance(3_600_000);
    expect(starts).toEqual([0, 1, 6, 21, 36, 51]);
    expect(states[0]).toBe("feed test refuses the connection: the key is wrong");
    stop();
    await ended;
  });

  test("a connection that is lost and then refused is tried again after a minute, as any first refusal", async () => {
    const starts: number[] = [];
    const { clock, stop, ended } = start(async function* () {
      yield* await Promise.resolve([]);
      starts.push(clock.now());
      throw starts.length === 3 ? new Refused("the key was withdrawn") : new Upset("lost", { retryAfterMs: 1_000 });
    });
    await clock.advance(63_000);
    expect(starts).toHaveLength(4);
    expect((starts[3] ?? 0) - (starts[2] ?? 0)).toBe(60_000);
    stop();
    await ended;
  });

  test("a source that asks for a pause gets it", async () => {
    const starts: number[] = [];
    const { clock, stop, ended } = start(async function* () {
      yield* await Promise.resolve([]);
      starts.push(clock.now());
      throw new Upset("too many requests", { retryAfterMs: 90_000 });
    });
    await clock.advance(200_000);
    expect(starts).toEqual([0, 90_000, 180_000]);
    stop();
    await ended;
  });

  test("a supervised feed that is stopped between two starts does not start again", async () => {
    const { clock, ended, stop } = start(async function* () {
      yield* [];
      throw new Error("lost");
    });
    await clock.advance(0);
    stop();
    await ended;
  });
});
