import { describe, expect, test } from "vitest";
import { manualClock } from "./clock";
import { backoffMs, repeat } from "./repeat";

/** A loop on a clock that the test advances, and the times of its steps. */
function start(options: Partial<Parameters<typeof repeat>[0]>, step: (count: number) => unknown = () => undefined) {
  const clock = manualClock(0);
  const stopping = new AbortController();
  const ran: number[] = [];
  const ended = repeat({ clock, signal: stopping.signal, pause: 100, ...options }, () => step(ran.push(clock.now())));
  return { clock, stopping, ran, ended };
}

describe("repeat", () => {
  test("a step runs after each pause until the signal aborts", async () => {
    const { clock, stopping, ran, ended } = start({});
    await clock.advance(350);
    stopping.abort();
    await ended;
    expect(ran).toEqual([100, 200, 300]);
  });

  test("an aborted signal prevents every step, even one that was to run at once", async () => {
    const { ran, ended } = start({ signal: AbortSignal.abort(), atOnce: true });
    await ended;
    expect(ran).toEqual([]);
  });

  test("the first step runs at once if requested, and the pause may differ each time", async () => {
    const pauses = [10, 20, 30];
    const { clock, stopping, ran } = start({ atOnce: true, pause: () => pauses.shift() ?? 1_000 });
    await clock.advance(500);
    stopping.abort();
    expect(ran).toEqual([0, 10, 30, 60]);
  });

  test("a slow step delays the next one: two never run at the same time", async () => {
    const clock = manualClock(0);
    const stopping = new AbortController();
    const ran: number[] = [];
    const ended = repeat({ clock, signal: stopping.signal, pause: 100, atOnce: true }, async () => {
      ran.push(clock.now());
      await clock.wait(500);
    });
    await clock.advance(1_300);
    stopping.abort();
    await clock.advance(500);
    await ended;
    expect(ran).toEqual([0, 600, 1_200]);
  });

  test("the loop ends without another pause once `until` is true", async () => {
    let done = false;
    const { ran, ended } = start({ atOnce: true, until: () => done }, (count) => {
      done = count === 1;
    });
    await ended;
    expect(ran).toEqual([0]);
  });

  test("without `onError`, an error of a step rejects the loop", async () => {
    const { ended } = start({ atOnce: true }, () => {
      throw new Error("broken");
    });
    await expect(ended).rejects.toThrow("broken");
  });

  test("failures are counted until a step succeeds, and each is followed by the pause that is announced", async () => {
    const seen: [number, number][] = [];
    const { clock, stopping, ran } = start(
      {
        atOnce: true,
        pause: { firstMs: 100, longestMs: 300 },
        onError: (_, failures, nextMs) => seen.push([failures, nextMs]),
      },
      (count) => {
        if (count !== 5) throw new Error("broken");
      },
    );
    await clock.advance(1_500);
    stopping.abort();
    expect(seen.map(([failures]) => failures).slice(0, 6)).toEqual([1, 2, 3, 4, 1, 2]);
    const bounds = [100, 200, 300, 300, 100, 200];
    for (const [index, bound] of bounds.entries()) {
      expect(seen[index]?.[1]).toBeGreaterThan(bound / 2 - 1);
      expect(seen[index]?.[1]).toBeLessThanOrEqual(bound);
    }
    const waited = ran.slice(1, 5).map((atMs, index) => atMs - (ran[index] ?? 0));
    expect(waited).toEqual(seen.slice(0, 4).map(([, nextMs]) => expect.closeTo(nextMs, 6)));
  });

  test("a step that was healthy before it failed starts the backoff over", async () => {
    const counts: number[] = [];
    const clock = manualClock(0);
    const stopping = new AbortController();
    const ended = repeat(
      {
        clock,
        signal: stopping.signal,
        pause: { firstMs: 100, longestMs: 300 },
        atOnce: true,
        onError: (_, failures) => counts.push(failures),
      },
      (healthy) => {
        if (counts.length === 2) healthy();
        throw new Error("broken");
      },
    );
    await clock.advance(1_000);
    stopping.abort();
    await ended;
    expect(counts.slice(0, 4)).toEqual([1, 2, 1, 2]);
  });

  test("a step that fails because the loop is stopped is not reported", async () => {
    const stopping = new AbortController();
    const errors: unknown[] = [];
    const { ended } = start({ signal: stopping.signal, atOnce: true, onError: (error) => errors.push(error) }, () => {
      stopping.abort();
      throw new Error("stopped");
    });
    await ended;
    expect(errors).toEqual([]);
  });
});

test("a backoff doubles up to its bound and is never cut by more than half", () => {
  for (const [failures, bound] of [
    [0, 100],
    [1, 200],
    [4, 1_600],
    [5, 2_000],
    [2_000, 2_000],
  ] as const)
    for (let draw = 0; draw < 50; draw += 1) {
      const waitMs = backoffMs({ firstMs: 100, longestMs: 2_000 }, failures);
      expect(waitMs).toBeGreaterThan(bound / 2 - 1);
      expect(waitMs).toBeLessThanOrEqual(bound);
    }
});
