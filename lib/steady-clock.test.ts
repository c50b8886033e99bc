import { describe, expect, onTestFinished, test } from "vitest";
import { collectingLog } from "#lib/testing/collecting-log";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { manualClock, systemClock } from "./clock";
import { createLog } from "./log";
import { createSteadyClock } from "./steady-clock";

/** A Wednesday noon, UTC. */
const START_MS = Date.UTC(2026, 0, 7, 12);

/** A machine with clocks that the test sets, a steady clock on it, and another machine with the true time. */
function machine() {
  const mono = manualClock(5_000);
  const logged: Record<string, unknown>[] = [];
  const state = {
    wallOffsetMs: START_MS - 5_000,
    arbiterOffsetMs: START_MS - 5_000,
    arbiterAway: false,
    asked: 0,
    /** Time that passes while nothing in this process runs. */
    heldUpMs: 0,
  };
  /** What happens on the machine while the wall clock is read, or while the arbiter is asked. */
  const meanwhile: { read(): void; ask(): Promise<void> } = { read: () => undefined, ask: async () => undefined };
  const clock = createSteadyClock({
    log: collectingLog(logged, "warn"),
    readers: {
      mono: () => mono.now() + state.heldUpMs,
      wall() {
        meanwhile.read();
        return mono.now() + state.heldUpMs + state.wallOffsetMs;
      },
      wait: mono.wait,
    },
  });
  async function ask() {
    state.asked += 1;
    if (state.arbiterAway) throw new Error("away");
    await meanwhile.ask();
    return mono.now() + state.arbiterOffsetMs;
  }
  const stopping = new AbortController();
  const running = clock.run({ ask, signal: stopping.signal });
  onTestFinished(async () => {
    stopping.abort();
    await running;
  });
  return { clock, mono, state, meanwhile, logged, seconds: (count: number) => mono.advance(count * SECOND_MS) };
}

/** Steps the machine's wall clock; the true time does not change. */
const step = ({ state }: ReturnType<typeof machine>, ms: number) => {
  state.wallOffsetMs += ms;
};

describe("a steady clock", () => {
  test("a steady clock follows a wall clock that is not stepped", async () => {
    const m = machine();
    expect(m.clock.now()).toBe(START_MS);
    await m.seconds(10);
    expect(m.clock.now()).toBe(START_MS + 10 * SECOND_MS);
    expect(m.state.asked).toBe(0);
  });

  test.each([HOUR_MS, -HOUR_MS])(
    "a steady clock ignores a step of %d ms of the wall clock alone, and logs it once",
    async (stepMs) => {
      const m = machine();
      step(m, stepMs);
      expect(m.clock.now()).toBe(START_MS);
      await m.seconds(30);
      expect(m.clock.now()).toBe(START_MS + 30 * SECOND_MS);
      expect(m.state.asked).toBe(1);
      expect(m.logged).toEqual([
        expect.objectContaining({
          msg: "the wall clock of this machine is wrong; ignoring it",
          steady: new Date(START_MS + SECOND_MS).toISOString(),
          wall: new Date(START_MS + SECOND_MS + stepMs).toISOString(),
        }),
      ]);
      step(m, -stepMs);
      await m.seconds(2);
      expect(m.clock.now()).toBe(START_MS + 32 * SECOND_MS);
      expect(m.logged).toHaveLength(1);
    },
  );

  test.each([HOUR_MS, -HOUR_MS])(
    "a steady clock follows a step of %d ms that the arbiter confirms, within a second",
    async (stepMs) => {
      const m = machine();
      step(m, stepMs);
      m.state.arbiterOffsetMs += stepMs;
      await m.seconds(1);
      expect(m.clock.now()).toBe(START_MS + SECOND_MS + stepMs);
      expect(m.logged).toEqual([
        expect.objectContaining({
          msg: "clock set to the wall clock",
          steady: new Date(START_MS + SECOND_MS).toISOString(),
          wall: new Date(START_MS + SECOND_MS + stepMs).toISOString(),
        }),
      ]);
      await m.seconds(5);
      expect(m.clock.now()).toBe(START_MS + 6 * SECOND_MS + stepMs);
      expect(m.state.asked).toBe(1);
    },
  );

  test("a steady clock retries each second while the arbiter is unavailable, and ignores the step meanwhile", async () => {
    const m = machine();
    step(m, HOUR_MS);
    m.state.arbiterOffsetMs += HOUR_MS;
    m.state.arbiterAway = true;
    await m.seconds(5);
    expect(m.state.asked).toBe(5);
    expect(m.clock.now()).toBe(START_MS + 5 * SECOND_MS);
    m.state.arbiterAway = false;
    await m.seconds(1);
    expect(m.clock.now()).toBe(START_MS + 6 * SECOND_MS + HOUR_MS);
  });

  test("a steady clock asks about a refused step once a minute, and follows when the arbiter confirms it later", async () => {
    const m = machine();
    step(m, HOUR_MS);
    await m.seconds(60);
    expect(m.state.asked).toBe(1);
    m.state.arbiterOffsetMs += HOUR_MS;
    await m.seconds(1);
    expect(m.state.asked).toBe(2);
    expect(m.clock.now()).toBe(START_MS + 61 * SECOND_MS + HOUR_MS);
  });

  test("a steady clock asks about another step at once", async () => {
    const m = machine();
    step(m, HOUR_MS);
    await m.seconds(1);
    step(m, HOUR_MS);
    await m.seconds(1);
    expect(m.state.asked).toBe(2);
    expect(m.clock.now()).toBe(START_MS + 2 * SECOND_MS);
  });

  test("a steady clock ignores an answer that took longer than the two clocks differ", async () => {
    const m = machine();
    step(m, 3_000);
    m.state.arbiterOffsetMs += 3_000;
    m.meanwhile.ask = () => m.mono.wait(4_000);
    await m.seconds(5);
    expect(m.state.asked).toBe(1);
    expect(m.clock.now()).toBe(START_MS + 5 * SECOND_MS);
    m.meanwhile.ask = async () => undefined;
    await m.seconds(1);
    expect(m.clock.now()).toBe(START_MS + 6 * SECOND_MS + 3_000);
  });

  test("a steady clock ignores an answer when the wall clock was stepped again in the meantime", async () => {
    const m = machine();
    step(m, HOUR_MS);
    m.meanwhile.ask = async () => step(m, -HOUR_MS);
    m.state.arbiterOffsetMs += HOUR_MS;
    await m.seconds(1);
    expect(m.clock.now()).toBe(START_MS + SECOND_MS);
    expect(m.logged).toEqual([]);
  });

  test("a steady clock ignores an invalid answer", async () => {
    const m = machine();
    step(m, HOUR_MS);
    m.state.arbiterOffsetMs = Number.NaN;
    await m.seconds(3);
    expect(m.state.asked).toBe(3);
    expect(m.clock.now()).toBe(START_MS + 3 * SECOND_MS);
    expect(m.logged).toEqual([]);
  });

  test("a steady clock corrects a small difference by five milliseconds a second, forward and back", async () => {
    const m = machine();
    step(m, 12);
    await m.seconds(1);
    expect(m.clock.now()).toBe(START_MS + SECOND_MS + 5);
    await m.seconds(2);
    expect(m.clock.now()).toBe(START_MS + 3 * SECOND_MS + 12);
    step(m, -1_000);
    await m.seconds(200);
    expect(m.clock.now()).toBe(START_MS + 203 * SECOND_MS + 12 - 1_000);
    expect(m.state.asked).toBe(0);
  });

  test("a steady clock never goes back when it corrects a difference", async () => {
    const m = machine();
    step(m, -900);
    await m.mono.advance(999);
    const before = m.clock.now();
    await m.mono.advance(1);
    expect(m.clock.now()).toBe(before);
    await m.mono.advance(10);
    expect(m.clock.now()).toBe(before + 1 - 5 + 10);
  });

  test("a steady clock skips a reading during which the process was stalled", async () => {
    const m = machine();
    m.meanwhile.read = () => {
      m.state.heldUpMs += 10 * SECOND_MS;
    };
    await m.seconds(1);
    m.meanwhile.read = () => undefined;
    expect(m.clock.now()).toBe(START_MS + 11 * SECOND_MS);
    await m.seconds(1);
    expect(m.state.asked).toBe(0);
    expect(m.logged).toEqual([]);
  });

  test("a steady clock returns the time of its machine in whole milliseconds", async () => {
    const clock = createSteadyClock({ log: createLog("silent") });
    const stopping = new AbortController();
    const running = clock.run({ ask: async () => Date.now(), signal: stopping.signal });
    const now = clock.now();
    expect(Number.isInteger(now)).toBe(true);
    expect(Math.abs(now - systemClock.now())).toBeLessThan(SECOND_MS);
    stopping.abort();
    await running;
  });
});
