import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { type Repeating, startRepeating } from "#lib/repeat";
import { isHistoryDamaged } from "#lib/storage-errors";
import { SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { placeProblem } from "#server/store/history/place";
import { unnamedOf } from "#server/store/history/sweep";

/** A bucket asks money for each look. */
const LOOK_INTERVAL_MS = 10 * SECOND_MS;
/** Files that one look reads. */
const READ_COUNT = 8;

interface HistoryWatchOptions {
  readonly db: Pick<Database, "pool" | "segments">;
  readonly clock: Clock;
  readonly log: Logger;
}

interface DamageWatchOptions extends HistoryWatchOptions {
  readonly metrics: Pick<Metrics, "damagedHistory">;
}

/** What is known of the place of history. */
export interface PlaceWatch {
  /** Null where it can be used, else what is wrong. */
  problem(): string | null;
  stop(): Promise<void>;
}

/**
 * Looks whether the files of history lie where this process has them, and whether that can be used, now and then every ten seconds until
 * stopped: a command may move them while it runs.
 */
export function startPlaceWatch({ db, clock, log }: HistoryWatchOptions): PlaceWatch {
  let known: string | null = null;
  // What the database cannot say, its own check says.
  const onError = () => undefined;
  const { stop } = startRepeating({ clock, pause: LOOK_INTERVAL_MS, atOnce: true, onError }, async () => {
    const before = known;
    known = await placeProblem(db);
    if (known !== null && known !== before) log.error({ reason: known }, "the files of history cannot be used");
    else if (known === null && before !== null) log.info("the files of history can be used again");
  });
  return { problem: () => known, stop };
}

/**
 * Reads files of history again that could not be read, every ten seconds until stopped, and counts for /metrics those that are damaged or
 * missing. It forgets those that can be read again, and those that nothing names any more: such a read began before they were replaced.
 */
export function startDamageWatch({ db: { pool, segments }, metrics, clock, log }: DamageWatchOptions): Repeating {
  const damaged = new Set<string>();
  metrics.damagedHistory(() => damaged.size);

  async function problemOf(id: string): Promise<string | null> {
    try {
      await segments.bytes(pool, [id]);
      return null;
    } catch (error) {
      if (!isHistoryDamaged(error)) throw error;
      return (error as Error).message;
    }
  }

  async function look(id: string): Promise<void> {
    const isNamed = (await unnamedOf(pool, [id])).length === 0;
    const problem = isNamed ? await problemOf(id) : null;
    if (problem === null) {
      damaged.delete(id);
      return;
    }
    if (!damaged.has(id)) log.error({ file: id, reason: problem }, "a file of history is damaged or missing");
    damaged.add(id);
    // Behind the others.
    segments.suspects.add(id);
  }

  // It cannot be read now: the check of the place, or of the database, says so.
  const onError = () => undefined;
  return startRepeating({ clock, pause: LOOK_INTERVAL_MS, onError }, async () => {
    for (const id of [...segments.suspects].slice(0, READ_COUNT)) {
      segments.suspects.delete(id);
      try {
        await look(id);
      } catch (error) {
        segments.suspects.add(id);
        throw error;
      }
    }
  });
}
