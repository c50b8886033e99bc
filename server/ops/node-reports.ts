import { randomUUID } from "node:crypto";
import { NODE_REPORT_INTERVAL_S } from "#lib/contract/portal-health";
import type { Logger } from "#lib/log";
import { createNodeReport, type NodeSources } from "#lib/market/node-report";
import type { Metrics } from "#lib/metrics";
import { type Repeating, startRepeating } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { lastBackups } from "#server/store/market/backup-runs";
import { removeNodeReport, succeedNode, writeNodeReport } from "#server/store/market/node-reports";
import manifest from "../../package.json" with { type: "json" };

interface NodeReportOptions extends Omit<NodeSources, "version"> {
  readonly db: Pick<Database, "pool">;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Host and port at which other nodes reach this one. */
  readonly name: string;
}

/**
 * Reports this node to the database now and then every NODE_REPORT_INTERVAL_S until stopped. For /metrics it notes the checks of
 * /api/ready, and when the last backup ended. A node that stops takes its report back. It does not throw: failures are logged and retried.
 */
export function startNodeReports(options: NodeReportOptions): Repeating {
  const { db, clock, log, metrics, name } = options;
  const run = { id: randomUUID(), name };
  const report = createNodeReport({ ...options, version: manifest.version });
  let succeeded = false;

  const onError = (error: unknown, failures: number) => {
    if (failures === 1) log.warn({ err: error }, "cannot report this node to the database; retrying");
  };
  const pause = NODE_REPORT_INTERVAL_S * SECOND_MS;
  const running = startRepeating({ clock, pause, atOnce: true, onError }, async () => {
    const made = await report();
    // First, because what follows fails when the database is what is not well.
    metrics.checked(made.checks, made.idle);
    if (!succeeded) await succeedNode(db.pool, run);
    succeeded = true;
    await writeNodeReport(db.pool, run, made);
    const { last } = await lastBackups(db.pool);
    metrics.lastBackup(last === null ? 0 : Date.parse(last.ended_at));
  });
  return {
    async stop() {
      await running.stop();
      // Without the database it is shown as silent, which it is.
      await removeNodeReport(db.pool, run).catch(() => undefined);
    },
  };
}
