import { type Clock, systemClock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { repeat } from "./repeat";

const LOOK_INTERVAL_MS = 1_000;
/** A larger difference is a step; a smaller one is corrected slowly. */
const STEP_MIN_MS = 1_000;
/** How much of a small difference one reading corrects. */
const SLEW_MAX_MS = 5;
/** A reading that took longer was interrupted, so its two values do not belong together. */
const LOOK_MAX_MS = 20;
/** A refused step is checked again after this time, as long as the wall clock stays there. */
const ASK_AGAIN_MS = 60_000;

/** The clocks of the machine. */
interface ClockReaders {
  /** Unix milliseconds of the wall clock, which may be stepped. */
  wall(): number;
  /** Milliseconds since some instant, which only increase; they may stand still while the machine sleeps. */
  mono(): number;
  wait: Clock["wait"];
}

/** A clock that advances evenly when the wall clock of the machine is stepped. */
interface SteadyClock extends Clock {
  /**
   * Reads the wall clock each second until the signal aborts, then resolves; never rejects. Without it the clock follows the
   * monotonic clock alone.
   */
  run(options: RunOptions): Promise<void>;
}

interface RunOptions {
  /**
   * Unix milliseconds of another clock, normally the database's. Asked only about a step; after a rejection the time stays
   * unchanged, and it is asked again a second later.
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
 * Makes a clock for production that starts at the current wall time and follows the monotonic clock, so that a wall clock
 * stepped by an operator, NTP or a hypervisor closes no kline early and refuses no key and no tick.
 *
 * A difference of up to a second between the two is corrected by a few milliseconds a second, and the time never goes
 * backwards. For a larger one the arbiter is asked, and the clock that is closer to it wins. A machine that slept is corrected
 * in the same way: its monotonic clock stood still, and the arbiter agrees with the wall clock. If the arbiter is on the same
 * machine, both step together: a single machine trusts its clock.
 */
export function createSteadyClock({ log, readers = machine }: SteadyClockOptions): SteadyClock {
  let offsetMs = readers.wall() - readers.mono();
  let latestMs = Number.NEGATIVE_INFINITY;
  /** A difference that the arbiter did not confirm, and when it was asked. */
  let refused: { differenceMs: number; askedMs: number } | undefined;

  const steadyMs = () => readers.mono() + offsetMs;

  function now(): number {
    // While a difference is corrected, the time may stand still for a moment, but never goes back.
    latestMs = Math.max(latestMs, Math.floor(steadyMs()));
    return latestMs;
  }

  /** How far the wall clock is ahead; undefined when this process was stalled between the two readings. */
  function differenceMs(): number | undefined {
    const before = readers.mono();
    const wall = readers.wall();
    return readers.mono() - before > LOOK_MAX_MS ? undefined : wall - (before + offsetMs);
  }

  /** @returns undefined when the answer does not tell which of the two clocks is right */
  async function isWallNearer(difference: number, ask: RunOptions["ask"]): Promise<boolean | undefined> {
    const askedMs = steadyMs();
    const answer = await ask();
    const tookMs = steadyMs() - askedMs;
    const after = differenceMs();
    const moved = after === undefined || Math.abs(after - difference) > STEP_MIN_MS;
    // The answer was read at some instant in between: it is accurate to half of the time that it took.
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
    if (refused !== undefined) log.info("the wall clock of this machine is right again");
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
