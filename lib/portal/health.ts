import type { HealthReport } from "#lib/contract/portal-health";
import { lastBackups } from "#lib/market/backup-runs";
import { listNodes } from "#lib/market/node-reports";
import { DAY_S } from "#lib/units";
import type { PortalRuntime } from "./runtime";

const SIZE = "SELECT pg_database_size(current_database())::float8 AS bytes";

/** How the installation is: its nodes, venues, database and backups. */
export async function healthOf({
  db,
  clock,
  env,
  reports,
}: Pick<PortalRuntime, "db" | "clock" | "env" | "reports">): Promise<HealthReport> {
  const [nodes, { feeds }, size, backups] = await Promise.all([
    listNodes(db.pool),
    reports.feeds(),
    db.pool.query<{ bytes: number }>(SIZE),
    lastBackups(db.pool),
  ]);
  return {
    at_ms: clock.now(),
    nodes,
    venues: feeds.map(({ venue, provider, lag_ms, tickers, live }) => ({ venue, provider, lag_ms, tickers, live })),
    database_bytes: size.rows[0]?.bytes ?? 0,
    backups: { ...backups, max_age_s: env.BACKUP_MAX_AGE_DAYS * DAY_S },
  };
}
