import type pg from "pg";
import { onTestFinished } from "vitest";
import { createLog } from "#lib/log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { competeForLease, type Lease } from "#server/cluster/lease";

/** How often a node looks whether the lease is free. */
export const LOOK_MS = 100;
/** How often a holder beats. */
export const BEAT_MS = 1_000;
const log = createLog("silent");

interface CompetitorOptions {
  readonly pool: Pick<pg.Pool, "query">;
  /** Its wall clock at first, Unix ms. */
  readonly startMs?: number;
  /** Whether what it would publish reaches anybody; true unless given. */
  readonly able?: () => boolean;
  /** What it does with the lease; holds it until it is lost, unless given. */
  readonly hold?: (lease: Lease) => Promise<void>;
}

/** A node that competes for a lease; its clocks stand until it is told to look, or to beat. */
interface Competitor {
  /** All it has held, and what it holds now. */
  readonly held: readonly Lease[];
  lease(): Lease | undefined;
  readonly clock: WatchedClock;
  /** Looks once more, `ms` of its own time after the last look. */
  look(ms: number): Promise<void>;
  /** The same with an answer that takes so long. */
  lookSlowly(ms: number): Promise<void>;
  /** Beats once, `ms` of its own time after whatever was before. */
  beat(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when one of these signals aborts. */
export function whenAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return new Promise((resolve) => (any.aborted ? resolve() : any.addEventListener("abort", () => resolve(), { once: true })));
}

/** Competes for the live venue's lease under a name, until the test is over; its first look is over when this resolves. */
export async function competitor(
  name: string,
  { pool, startMs = 0, able = () => true, hold }: CompetitorOptions,
): Promise<Competitor> {
  const clock: WatchedClock = watchedClock();
  clock.set(startMs);
  const stopping = new AbortController();
  const held: Lease[] = [];
  let lease: Lease | undefined;
  let elapsedMs = 0;
  let stallMs = 0;
  const elapsed = () => {
    const now = elapsedMs;
    elapsedMs += stallMs;
    stallMs = 0;
    return now;
  };
  const competing = competeForLease(
    { pool, venue: "live", holder: name, able, clock, log, elapsed },
    stopping.signal,
    async (taken) => {
      held.push(taken);
      lease = taken;
      await (hold ? hold(taken) : whenAborted(taken.lost, stopping.signal));
      lease = undefined;
    },
  );
  const settled = () => Promise.race([clock.waitingFor(LOOK_MS), clock.waitingFor(BEAT_MS)]);
  const node: Competitor = {
    held,
    clock,
    lease: () => lease,
    async look(ms: number) {
      elapsedMs += ms;
      await clock.advance(LOOK_MS);
      await settled();
    },
    async lookSlowly(ms: number) {
      stallMs = ms;
      await node.look(0);
    },
    async beat(ms = 0) {
      elapsedMs += ms;
      await clock.advance(BEAT_MS);
      await settled();
    },
    async stop() {
      stopping.abort();
      await competing;
    },
  };
  onTestFinished(node.stop);
  await settled();
  return node;
}
