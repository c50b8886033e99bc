import type { Clock } from "#lib/clock";
import { VENUES } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createPartitions, dropShortKlines, expiredYears } from "#lib/market/partitions";
import { repeat } from "#lib/repeat";
import { DAY_S, HOUR_MS } from "#lib/units";

/** What did not work, or was another's turn, is tried again after this. */
const INTERVAL_MS = HOUR_MS;
/** The next year's partition is made so long before the year begins. */
const AHEAD_S = 30 * DAY_S;

interface UpkeepOptions {
  readonly db: Pick<Database, "pool" | "control">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Pick<Env, "KLINE_RETENTION_YEARS">;
}

/** Upkeep that runs. */
export interface Upkeep {
  /** Resolves when what was under way is done. */
  stop(): Promise<void>;
}

/** Makes the partitions that will be needed soon. */
async function makeAhead(ensure: ReturnType<typeof createPartitions>, { clock, log }: UpkeepOptions): Promise<void> {
  const nowS = clock.now() / 1000;
  try {
    await ensure(nowS, nowS + AHEAD_S);
  } catch (error) {
    log.warn({ err: error }, "the partitions of the time ahead are not made; it is tried again");
  }
}

/** Drops the short klines of the years that are kept no longer, and tells every process of it. */
async function dropExpired({ db, clock, log, env }: UpkeepOptions, signal: AbortSignal): Promise<void> {
  try {
    for (const year of await expiredYears(db.pool, clock.now() / 1000, env.KLINE_RETENTION_YEARS)) {
      if (signal.aborted) return;
      const outcome = await dropShortKlines(db.pool, year);
      if (outcome === "busy") log.info({ year }, "klines kept no longer are in use; dropping them is tried again");
      if (outcome !== "dropped") continue;
      log.info({ year }, "klines shorter than a day were dropped: the year is kept no longer");
      for (const venue of VENUES) await db.control.publish({ kind: "klines", venue });
    }
  } catch (error) {
    log.warn({ err: error }, "klines kept no longer are not dropped; it is tried again");
  }
}

/**
 * Looks after the stored klines at once and then every hour, until it is stopped: makes the partitions of the time ahead, and
 * drops what KLINE_RETENTION_YEARS does not keep. Every node may run it; one at a time does the work. It does not throw: what
 * fails is logged and tried again.
 */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  const stopping = new AbortController();
  const ensure = createPartitions(options.db.pool);

  const { clock } = options;
  const running = repeat({ clock, signal: stopping.signal, pause: INTERVAL_MS, atOnce: true }, async () => {
    await makeAhead(ensure, options);
    await dropExpired(options, stopping.signal);
  });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
