import { statfs } from "node:fs/promises";
import type { HealthReport } from "#lib/contract/portal-health";
import type { PortalRuntime } from "./runtime";

async function storageOf({ db, env }: Pick<PortalRuntime, "db" | "env">): Promise<HealthReport["storage"]> {
  const [size, disk] = await Promise.all([
    db.pool.query<{ bytes: number }>("SELECT pg_database_size(current_database())::float8 AS bytes"),
    statfs(env.DATA_DIR).catch(() => undefined),
  ]);
  return {
    database_bytes: size.rows[0]?.bytes ?? 0,
    disk_free_bytes: disk === undefined ? null : disk.bavail * disk.bsize,
    disk_bytes: disk === undefined ? null : disk.blocks * disk.bsize,
  };
}

/** How the installation is: its process, venues and storage. */
export async function healthOf(running: Pick<PortalRuntime, "db" | "env" | "reports">): Promise<HealthReport> {
  const { reports } = running;
  const [node, { feeds }, storage] = await Promise.all([reports.node(), reports.feeds(), storageOf(running)]);
  const venues = feeds.map(({ venue, provider, problem, lag_ms, tickers, live, taken }) => {
    return { venue, provider, problem, lag_ms, tickers, live, taken };
  });
  return { node, venues, storage };
}
