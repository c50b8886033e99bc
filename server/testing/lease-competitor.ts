import type pg from "pg";
import { onTestFinished } from "vitest";
import { createLog } from "#lib/log";
import { type WatchedClock, watchedClock } from "#lib/testing/watched-clock";
import { competeForLease, type Lease } from "#server/cluster/lease";

/** Interval at which a node reads the lease. */
export const LOOK_MS = 100;
/** Interval at which a holder renews it. */
export const BEAT_MS = 1_000;
const log = createLog("silent");

interface CompetitorOptions {
  readonly pool: Pick<pg.Pool, "query">;
  /** Its initial wall clock, Unix ms. */
  readonly startMs?: number;
  /** Whether its events reach the other nodes; defaults to true. */
  readonly able?: () => boolean;
  /** What it does with the lease; by default it holds it until it is lost. */
  readonly hold?: (lease: Lease) => Promise<void>;
}

/** A node that competes for a lease; its clocks advance only when the test calls `look` or `beat`. */
interface Competitor {
  /** All leases it has held, and the one it holds now. */
  readonly held: readonly Lease[];
  lease(): Lease | undefined;
  readonly clock: WatchedClock;
  /** Reads the lease once more, `ms` of its own time after the last read. */
  look(ms: number): Promise<void>;
  /** The same with an answer that takes this long. */
  lookSlowly(ms: number): Promise<void>;
  /** Renews the lease once, `ms` of its own time after its last action. */
  beat(ms?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when one of these signals aborts. */
export function whenAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return new Promise((resolve) => (any.aborted ? resolve() : any.addEventListener("abort", () => resolve(), { once: true })));
}

/** Competes for the live venue's lease under a name until the test ends; resolves after its first read. */
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
