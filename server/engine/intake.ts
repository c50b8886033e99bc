import type { Clock } from "#lib/clock";
import type { TickRejection } from "#lib/contract/ingest";
import type { Venue } from "#lib/contract/primitives";
import type { Tick } from "#lib/domain/tick";
import { Fault } from "#lib/fault";
import type { Leader, Outcome } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { withTimeout } from "#lib/with-timeout";
import type { MarketFeed } from "#server/feed/feed";
import type { createRefusals } from "./interruptions";
import type { createJudge } from "./judge";
import type { Recorder } from "./recorder";

/** A push that finds no room in the recorder, or is not stored in time, fails after this. */
const PUSH_WAIT_MAX_MS = 5_000;
const PUSH_RETRY_AFTER_S = 5;

/**
 * Begins to keep the ticks of a push where a kill of this process cannot lose them. Call it before the first of them is judged.
 * @returns call it after the last one: it resolves once all of them are kept, or `stored` resolves true because they are in the
 * store. It throws Fault service_unavailable when they may be lost
 * @throws Fault service_unavailable while nothing more can be kept
 */
export type Keep = () => (stored: () => Promise<boolean>) => Promise<void>;

interface IntakeOptions {
  readonly venue: Venue;
  readonly judge: ReturnType<typeof createJudge>["judge"];
  /** Absent where nothing is stored. */
  readonly recorder: Pick<Recorder, "hasRoom" | "room" | "written"> | undefined;
  /** Absent where nothing is pushed. */
  readonly keep?: Keep | undefined;
  /** Throws the fault with which pushes are refused while nothing more may be stored; absent where nothing is pushed. */
  readonly requireRoom?: (() => void) | undefined;
  readonly feed?: Pick<MarketFeed, "choice"> | undefined;
  readonly refusals: ReturnType<typeof createRefusals>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "ticks">;
  /** Ends all waiting. */
  readonly stopping: AbortSignal;
}

/** The way of all ticks into a venue. */
export interface Intake {
  /** Takes the ticks of the feed, however long they have to wait until there is room. */
  feed(ticks: readonly Tick[]): Promise<void>;
  /** As Leader says. */
  readonly push: Leader["push"];
}

function fallenBehind(): Fault {
  const detail = "The database has fallen behind, so ticks are not accepted right now.";
  return new Fault("service_unavailable", { detail, retry_after: PUSH_RETRY_AFTER_S });
}

/** Makes the way in: waits for room, has ticks judged, and answers a push once what it brought is kept. */
export function createIntake(options: IntakeOptions): Intake {
  const { venue, judge, recorder, keep, requireRoom, refusals, clock, metrics, stopping } = options;
  const choice = options.feed?.choice;

  async function room(): Promise<void> {
    if (recorder === undefined || recorder.hasRoom()) return;
    await Promise.race([recorder.room(stopping), clock.wait(PUSH_WAIT_MAX_MS, stopping)]);
    if (!recorder.hasRoom()) throw fallenBehind();
  }

  /** True once everything decided so far is stored; false when that takes too long, or the venue stops before. */
  async function stored(): Promise<boolean> {
    if (recorder === undefined) return true;
    const written = recorder.written(stopping).then(() => !stopping.aborted);
    return withTimeout(written, PUSH_WAIT_MAX_MS, clock, stopping).catch(() => false);
  }

  /** Judges what was pushed; where there are other providers, only ticks for which pushes are in force are taken. */
  function judgePushed(read: readonly (Tick | TickRejection)[]): Outcome[] {
    if (choice === undefined) return judge(read);
    const standby: Outcome[] = [];
    const taken = read.map((tick) => {
      if (typeof tick === "string" || choice.pushed(tick)) return tick;
      standby.push("standby");
      return "standby";
    });
    metrics.ticks(venue, standby);
    return judge(taken);
  }

  async function accept(read: readonly (Tick | TickRejection)[]): Promise<Outcome[]> {
    requireRoom?.();
    await room();
    const kept = keep?.();
    const outcomes = judgePushed(read);
    await kept?.(stored);
    return outcomes;
  }

  return {
    async feed(ticks) {
      await recorder?.room(stopping);
      judge(ticks);
    },
    async push(read) {
      const atMs = clock.now();
      try {
        const outcomes = await accept(read);
        refusals.taken(read, atMs);
        return outcomes;
      } catch (error) {
        refusals.refused(read, atMs);
        throw error;
      }
    },
  };
}
