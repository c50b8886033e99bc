import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { listAudit } from "#lib/access/audit";
import { createMemoryBucketStore } from "#lib/access/bucket-store";
import { listKeys } from "#lib/access/keys";
import { overview } from "#lib/access/overview";
import { explainRequest, listRequests } from "#lib/access/request-log-query";
import { UsageQuery, usageReport, usageSpan } from "#lib/access/usage-query";
import { systemClock } from "#lib/clock";
import type { Database } from "#lib/db";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { acquireDatabase } from "#server/database";
import type { Row } from "./table";
import { seedUsage } from "./usage-seed";

/** An account with 100 keys, one million rows of usage and 100,000 requests in its log. */
const SEED = {
  keys: 100,
  combinations: 174,
  buckets: { minute: 2_880, hour: 2_160, day: 730 },
  requests: 100_000,
  audited: 5_000,
};
const TARGET_MS = 100;
const RUNS_COUNT = 40;
const WARM_UP_COUNT = 5;
const HOUR_MS = 3_600_000;

type Page = (db: Database, accountId: string) => Promise<unknown>;

/** The spans of the usage page. */
const SPANS = [
  ["last hour", 1, "minute"],
  ["last 24 hours", 24, "hour"],
  ["last 7 days", 7 * 24, "hour"],
  ["last 90 days", 90 * 24, "day"],
] as const;

function pages(nowMs: number): [what: string, page: Page][] {
  const clock = systemClock;
  const buckets = createMemoryBucketStore(clock);
  const access = { remaining: (accountId: string, plan: Parameters<typeof buckets.take>[1]) => buckets.take(accountId, plan, 0) };
  const usage = SPANS.map(([name, hours, grain]): [string, Page] => {
    const query = UsageQuery.parse({ from: new Date(nowMs - hours * HOUR_MS).toISOString(), grain });
    return [`usage, ${name}`, (db, accountId) => usageReport(db.pool, accountId, usageSpan(query, clock))];
  });
  return [
    ["overview", (db, accountId) => overview({ db, clock, access }, accountId)],
    ["keys", (db, accountId) => listKeys({ db, clock }, { accountId })],
    ...usage,
    ["logs", (db, accountId) => listRequests(db.pool, accountId, {})],
    ["logs, refused ones", (db, accountId) => listRequests(db.pool, accountId, { status: "4xx" })],
    ["logs, a search that finds nothing", (db, accountId) => listRequests(db.pool, accountId, { q: "no such text" })],
    ["one request", (db, accountId) => explainRequest(db.pool, accountId, `${accountId}50000`, "")],
    ["audit log", (db, accountId) => listAudit(db, { accountId })],
  ];
}

async function p95(work: () => Promise<unknown>): Promise<number> {
  for (let run = 0; run < WARM_UP_COUNT; run += 1) await work();
  const times: number[] = [];
  for (let run = 0; run < RUNS_COUNT; run += 1) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b)[Math.ceil(RUNS_COUNT * 0.95) - 1] ?? Number.NaN;
}

/** Server time of what each page of the dashboard asks, on a busy account among others. */
export async function benchDashboard(): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const env = readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" });
  const { db, release } = await acquireDatabase(env, createLog("error"), systemClock);
  try {
    const nowMs = systemClock.now();
    const [busy, other] = await Promise.all(["busy", "other"].map((name) => db.prisma.account.create({ data: { name } })));
    if (busy === undefined || other === undefined) throw new Error("no account was made");
    await seedUsage(db.pool, { ...SEED, accountId: busy.id, nowMs });
    await seedUsage(db.pool, { ...SEED, accountId: other.id, nowMs, combinations: 20 });
    const rows: Row[] = [];
    for (const [what, page] of pages(nowMs)) {
      const ms = await p95(() => page(db, busy.id));
      const ratio = { value: ms / TARGET_MS, target: 1, against: `${TARGET_MS} ms`, bound: "at most" } as const;
      rows.push({ what: `dashboard: ${what}`, value: `p95 ${ms.toFixed(1)} ms`, ratio });
    }
    return rows;
  } finally {
    await release();
    rmSync(folder, { recursive: true, force: true });
  }
}
