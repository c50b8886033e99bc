import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { HOUR_MS } from "#lib/units";
import { startChild } from "./child";
import type { Row } from "./table";

const TARGET_MS = 100;
const RUNS_COUNT = 40;
const WARM_UP_COUNT = 5;

/** The requests of a browser for one page: the page, then its data. */
interface Visit {
  readonly what: string;
  readonly paths: readonly string[];
}

function usageOf(hours: number, grain: string): string {
  const from = new Date(Date.now() - hours * HOUR_MS).toISOString();
  return `/api/portal/usage?from=${encodeURIComponent(from)}&grain=${grain}`;
}

function visits(accountId: string): Visit[] {
  return [
    { what: "overview", paths: ["/dashboard"] },
    { what: "keys", paths: ["/dashboard/keys", "/api/portal/keys"] },
    { what: "usage, last hour", paths: ["/dashboard/usage", usageOf(1, "minute")] },
    { what: "usage, last 24 hours", paths: ["/dashboard/usage", usageOf(24, "hour")] },
    { what: "usage, last 7 days", paths: ["/dashboard/usage", usageOf(7 * 24, "hour")] },
    { what: "usage, last 90 days", paths: ["/dashboard/usage", usageOf(90 * 24, "day")] },
    { what: "logs", paths: ["/dashboard/logs", "/api/portal/logs"] },
    { what: "logs, failed requests", paths: ["/dashboard/logs?status=4xx", "/api/portal/logs?status=4xx"] },
    { what: "logs, search without results", paths: ["/dashboard/logs", "/api/portal/logs?q=no+such+text"] },
    { what: "logs, one request", paths: [`/api/portal/logs/${accountId}50000`] },
    { what: "account and audit log", paths: ["/dashboard/account", "/api/portal/audit"] },
  ];
}

function quantile(times: readonly number[], q: number): number {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length * q) - 1] ?? Number.NaN;
}

/** Milliseconds until each response was complete. @throws Error for a response that is not 200 */
async function timed(url: string, headers: Record<string, string>): Promise<number> {
  const startMs = performance.now();
  const response = await fetch(url, { headers, redirect: "manual" });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  return performance.now() - startMs;
}

/** Measures the response times of each dashboard page and its data, one reader at a time, for a busy account among others. */
export async function benchDashboard(): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const env = { PORT: "0", HOST: "127.0.0.1", DATA_DIR: folder, LOG_LEVEL: "error", TRUSTED_PROXIES: "127.0.0.1" };
  const server = await startChild("server/bench/portal.ts", env);
  try {
    const cookie = /^cookie (\S+)$/m.exec(server.output)?.[1] ?? "";
    const accountId = /^account (\S+)$/m.exec(server.output)?.[1] ?? "";
    const rows: Row[] = [];
    for (const [visit, { what, paths }] of visits(accountId).entries()) {
      // A separate address for each, because the portal's limit per client is not measured.
      const headers = { cookie, "x-forwarded-for": `203.0.113.${visit}` };
      const times = paths.map((): number[] => []);
      for (let run = -WARM_UP_COUNT; run < RUNS_COUNT; run += 1)
        for (const [index, asked] of paths.entries()) {
          const ms = await timed(server.url + asked, headers);
          if (run >= 0) times[index]?.push(ms);
        }
      const p95 = times.map((list) => quantile(list, 0.95));
      const parts = paths.map(
        (asked, index) => `${asked.split("?")[0]?.replace(/[0-9a-f-]{36}.*/, "…")} ${p95[index]?.toFixed(0)} ms`,
      );
      const ratio = { value: Math.max(...p95) / TARGET_MS, target: 1, against: `${TARGET_MS} ms`, bound: "at most" } as const;
      rows.push({ what: `dashboard: ${what}`, value: `p95 ${parts.join(", ")}`, ratio });
    }
    return rows;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
