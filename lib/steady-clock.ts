import { type Clock, systemClock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { repeat } from "./repeat";

const LOOK_INTERVAL_MS = 1_000;
/** A difference past this is a step; up to it, it is followed slowly. */
const STEP_MIN_MS = 1_000;
/** How much a look may take from a small difference. */
const SLEW_MAX_MS = 5;
/** A look that took longer was interrupted, and its two readings do not belong together. */
const LOOK_MAX_MS = 20;
/** A step that was refused is asked about again after this, for as long as the wall clock stays there. */
const ASK_AGAIN_MS = 60_000;

/** What the machine's clocks say. */
interface ClockReaders {
  /** Unix milliseconds of the wall clock, which may be stepped. */
  wall(): number;
  /** Milliseconds since some instant, which only grow; they may stand still while the machine sleeps. */
  mono(): number;
  wait: Clock["wait"];
}

/** A clock that runs on evenly when the wall clock of the machine is stepped. */
interface SteadyClock extends Clock {
  /**
   * Looks at the wall clock each second until the signal aborts, then resolves; never rejects. Without it the clock goes by
   * the monotonic clock alone.
   */
  run(options: RunOptions): Promise<void>;
}

interface RunOptions {
  /**
   * Unix milliseconds of another clock, the database's as a rule. Asked only about a step; a rejection leaves the time as it
   * is, and it is asked again a second later.
   */
  ask: () => Promise<number>;
  signal: AbortSignal;
}

interface SteadyClockOptions {
  readonly log: Logger;
  readonly readers?: ClockReaders;
}

const machine: ClockReaders = { wall: Date.now, mono: () => performance.now(), wait: systemClock.wait };

const instant = (ms: number) => new Date(ms).toISOString();

/**
 * Makes a clock for production, anchored at the wall time of now and driven by the monotonic clock, so that a wall clock
 * that an operator, NTP or a hypervisor steps closes no kline early and refuses no key and no tick.
 *
 * A difference of up to a second between the two is worn off by a few milliseconds a second, and the time never goes
 * backwards by it. At a larger one the arbiter is asked, and whichever of the two is nearer to it wins. A machine that slept
 * is set right in the same way: its monotonic clock stood still, and the arbiter agrees with the wall. Where the arbiter
 * is on the same machine both step together: a machine alone believes its clock.
 */
export function createSteadyClock({ log, readers = machine }: SteadyClockOptions): SteadyClock {
  let offsetMs = readers.wall() - readers.mono();
  let latestMs = Number.NEGATIVE_INFINITY;
  /** A difference that the arbiter did not confirm, and when it was asked about it. */
  let refused: { differenceMs: number; askedMs: number } | undefined;

  const steadyMs = () => readers.mono() + offsetMs;

  function now(): number {
    // Wearing off a difference makes the time stand still for a moment, never go back.
    latestMs = Math.max(latestMs, Math.floor(steadyMs()));
    return latestMs;
  }

  /** How far the wall clock is ahead; undefined when this process was held up between the two readings. */
  function differenceMs(): number | undefined {
    const before = readers.mono();
    const wall = readers.wall();
    return readers.mono() - before > LOOK_MAX_MS ? undefined : wall - (before + offsetMs);
  }

  /** @returns undefined where the answer does not tell which of two clocks so far apart is right */
  async function isWallNearer(difference: number, ask: RunOptions["ask"]): Promise<boolean | undefined> {
    const askedMs = steadyMs();
    const answer = await ask();
    const tookMs = steadyMs() - askedMs;
    const after = differenceMs();
    const moved = after === undefined || Math.abs(after - difference) > STEP_MIN_MS;
    // The answer was read at some instant in between: it is known to half of the time that it took.
    if (moved || !Number.isFinite(answer) || tookMs >= Math.abs(difference)) return undefined;
    const steadyErrorMs = Math.abs(answer - (askedMs + tookMs / 2));
    return Math.abs(answer - (askedMs + tookMs / 2 + difference)) < steadyErrorMs;
  }

  async function judgeStep(difference: number, ask: RunOptions["ask"]): Promise<void> {
    const known = refused !== undefined && Math.abs(difference - refused.differenceMs) <= STEP_MIN_MS ? refused : undefined;
    if (known !== undefined && readers.mono() - known.askedMs < ASK_AGAIN_MS) return;
    const nearer = await isWallNearer(difference, ask);
    if (nearer === undefined) return;
    const steady = steadyMs();
    const times = { steady: instant(steady), wall: instant(steady + difference) };
    if (nearer) {
      offsetMs += difference;
      latestMs = Number.NEGATIVE_INFINITY;
      refused = undefined;
      log.warn(times, "clock set to the wall clock");
    } else {
      refused = { differenceMs: difference, askedMs: readers.mono() };
      if (known === undefined) log.warn(times, "the wall clock of this machine is wrong; ignoring it");
    }
  }

  async function look(ask: RunOptions["ask"]): Promise<void> {
    const difference = differenceMs();
    if (difference === undefined) return;
    if (Math.abs(difference) > STEP_MIN_MS) return judgeStep(difference, ask);
    offsetMs += Math.max(-SLEW_MAX_MS, Math.min(SLEW_MAX_MS, difference));
    refused = undefined;
  }

  return {
    now,
    wait: readers.wait,
    run({ ask, signal }) {
      const clock = { now, wait: readers.wait };
      const onError = (error: unknown) => log.debug({ err: error }, "cannot read the reference time; retrying");
      return repeat({ clock, signal, pause: LOOK_INTERVAL_MS, onError }, () => look(ask));
    },
  };
}
