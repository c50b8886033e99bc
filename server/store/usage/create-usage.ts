import type { Pool } from "pg";
import { type CallCount, createUsageCounts, FLUSH_INTERVAL_MS } from "#lib/access/usage/counts";
import { createMonths } from "#lib/access/usage/months";
import { createStreamCounts } from "#lib/access/usage/stream-use";
import type { Usage } from "#lib/access/usage/usage";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { repeat } from "#lib/repeat";
import { isDatabaseAway } from "#lib/storage-errors";
import { HOUR_MS } from "#lib/units";
import { monthUnits } from "./months";
import { createRequestLog, createRequestLogStore } from "./request-log";
import { deleteExpiredEntries, deleteExpiredUsage } from "./retention";
import { writeCalls, writeStreams } from "./store";

const RETENTION_INTERVAL_MS = HOUR_MS;
/** Rows per statement. */
const BATCH_COUNT = 2_000;

interface UsageOptions {
  readonly pool: Pick<Pool, "query">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "usageDropped">;
}

interface Waiting<Item> {
  take(max: number): Item[];
  giveBack(items: readonly Item[]): void;
}

/** SQLSTATE classes of data errors, which a retry does not fix. */
const REFUSED_CLASSES = ["22", "23"];

function isRefused(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined ? !isDatabaseAway(error) : REFUSED_CLASSES.includes(code.slice(0, 2));
}

/**
 * Counts usage and writes it every two seconds; deletes expired data every hour. If the connection breaks before the reply, a
 * batch is written again and may be counted twice.
 */
export function createUsage({ pool, clock, log, metrics }: UsageOptions): Usage {
  const counts = createUsageCounts(clock);
  const months = createMonths(clock);
  const streams = createStreamCounts(clock);
  const requests = createRequestLog();
  const store = createRequestLogStore(pool);
  const stopping = new AbortController();
  let failing = false;

  /** Writes a batch and returns the items that must wait. Items that the database rejects as invalid are dropped. */
  async function writeBatch<Item>(what: string, batch: Item[], write: (items: Item[]) => Promise<void>): Promise<Item[]> {
    try {
      await write(batch);
      return [];
    } catch (error) {
      if (!isRefused(error)) {
        if (!failing) log.warn({ err: error }, "key usage not written; retrying");
        failing = true;
        return batch;
      }
      if (batch.length > 1) {
        // A rejected item must not affect those of other keys.
        const middle = batch.length >> 1;
        const first = await writeBatch(what, batch.slice(0, middle), write);
        return first.concat(await writeBatch(what, batch.slice(middle), write));
      }
      metrics.usageDropped(what, 1);
      log.error({ err: error, what }, "database rejected a usage record; dropping it");
      return [];
    }
  }

  /** Writes everything pending in batches; false when the database is unavailable, and the rest stays pending. */
  async function drain<Item>(what: string, { take, giveBack }: Waiting<Item>, write: (items: Item[]) => Promise<void>) {
    for (let batch = take(BATCH_COUNT); batch.length > 0; batch = take(BATCH_COUNT)) {
      const left = await writeBatch(what, batch, write);
      if (left.length === 0) continue;
      giveBack(left);
      return false;
    }
    return true;
  }

  async function writeAndTell(batch: readonly CallCount[]): Promise<void> {
    await writeCalls(pool, batch);
    months.wrote(batch);
  }

  /** Reads what other processes have counted. */
  async function readMonths(): Promise<void> {
    const { month, accountIds } = months.known();
    if (accountIds.length > 0) months.read(month, await monthUnits(pool, month, accountIds));
  }

  async function flush(): Promise<void> {
    counts.turn();
    const written =
      (await drain("calls", counts, writeAndTell)) &&
      (await drain("streams", streams, (batch) => writeStreams(pool, batch))) &&
      (await drain("requests", requests, store.write));
    if (written) failing = false;
    for (const [what, { dropped }] of [
      ["calls", counts] as const,
      ["streams", streams] as const,
      ["requests", requests] as const,
    ]) {
      const count = dropped();
      if (count > 0) metrics.usageDropped(what, count);
    }
    if (!written) return;
    await attempt(readMonths, "units of the month not read");
    await attempt(() => store.trim("grown"), "request log not trimmed");
  }

  async function attempt(work: () => Promise<void>, failure: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, `${failure}; retrying`);
    }
  }

  async function flushing(): Promise<void> {
    await repeat({ clock, signal: stopping.signal, pause: FLUSH_INTERVAL_MS }, flush);
    await flush();
  }

  async function retaining(): Promise<void> {
    await repeat({ clock, signal: stopping.signal, pause: RETENTION_INTERVAL_MS }, async () => {
      await attempt(() => deleteExpiredUsage(pool, clock), "expired key usage not deleted");
      await attempt(() => store.trim("all"), "request log not trimmed");
      await attempt(() => deleteExpiredEntries(pool), "expired entries of the audit log not deleted");
    });
  }
  const running = Promise.all([flushing(), retaining()]);

  return {
    count(principal, operation, code, latencyMs, units) {
      months.add(principal, units);
      return counts.add(principal, operation, code, latencyMs, units);
    },
    months,
    log: requests.add,
    connected: streams.connected,
    flush,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
