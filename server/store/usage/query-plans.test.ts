import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { HOUR_MS } from "#lib/units";
import { overview } from "#server/pages/overview";
import { listAudit } from "#server/store/access/audit";
import type { Database } from "#server/store/database/db";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { seedUsage } from "#server/testing/usage-seed";
import { usageCsv } from "./csv";
import { UsageQuery, usageReport, usageSpan } from "./query";
import { explainRequest, listRequests } from "./request-log-query";
import { deleteExpiredUsage } from "./retention";

const NOW_MS = Date.now();
const SEED = {
  keys: 10,
  combinations: 15,
  buckets: { minute: 300, hour: 300, day: 60 },
  requests: 3_000,
  audited: 500,
  nowMs: NOW_MS,
};

let db: TestDatabase;
let accountId = "";
beforeAll(async () => {
  db = await testDatabase();
  for (const name of ["mine", "a", "b", "c", "d", "e"]) {
    const { id } = await db.prisma.account.create({ data: { name } });
    if (name === "mine") accountId = id;
    await seedUsage(db.pool, { ...SEED, accountId: id });
  }
});
afterAll(() => db.close());

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  Plans?: Plan[];
}

const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];

/** The scans of usage tables in all statements of `work`, for example "Index Scan usage_bucket". */
async function reads(work: (db: Pick<Database, "pool" | "prisma" | "control">) => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  async function query(text: string, values: unknown[]) {
    const { rows } = await db.pool.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
    for (const node of flat(rows[0]["QUERY PLAN"][0].Plan))
      if (/usage_bucket|request_log|audit_entry/.test(node["Relation Name"] ?? "") && node["Node Type"].includes("Scan"))
        found.push(`${node["Node Type"]} ${node["Relation Name"]}`);
    return db.pool.query(text, values);
  }
  await work({ prisma: db.prisma, control: db.control, pool: Object.assign(Object.create(db.pool), { query }) });
  return found;
}

const userOf = (accountId: string) => ({ accountId, email: "", emailVerified: true });
const verdict = { allowed: true, limit: 1, remaining: 1, resetS: 0, retryAfterS: 0 };
const span = usageSpan(UsageQuery.parse({ from: new Date(NOW_MS - HOUR_MS).toISOString(), grain: "minute" }), systemClock);

test.each([
  ["overview", 4, (one) => overview({ db: one, clock: systemClock, access: { remaining: () => verdict } }, userOf(accountId))],
  ["usage", 3, ({ pool }) => usageReport(pool, accountId, span)],
  ["export", 2, ({ pool }) => usageCsv(pool, accountId, span)],
  ["logs", 1, ({ pool }) => listRequests(pool, accountId, {})],
  ["older logs", 1, ({ pool }) => listRequests(pool, accountId, { before: "2000" })],
  ["one request", 1, ({ pool }) => explainRequest(pool, accountId, `${accountId}7`, "")],
  ["audit log", 1, (one) => listAudit(one, { accountId })],
  ["retention", 7, ({ pool }) => deleteExpiredUsage(pool, { ...systemClock, now: () => NOW_MS - 3_600_000_000 })],
] satisfies [string, number, Parameters<typeof reads>[0]][])(
  "%s finds rows by an index and never scans a whole table",
  async (_, atLeast, work) => {
    const found = await reads(work);
    expect(found.length).toBeGreaterThanOrEqual(atLeast);
    expect(found.filter((scan) => scan.startsWith("Seq Scan"))).toEqual([]);
  },
);
