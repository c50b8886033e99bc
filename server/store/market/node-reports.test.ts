import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NODE_FORGOTTEN_AFTER_S, NODE_SILENT_AFTER_S, NODES_MAX_COUNT, type NodeReport } from "#lib/contract/portal-health";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { listNodes, removeNodeReport, succeedNode, writeNodeReport } from "./node-reports";

const REPORT: NodeReport = {
  version: "1.2.3",
  role: "edge",
  started_ms: 1_000,
  checks: { store: null, feed_live: "silent" },
  rates: { calls: 60, rejected: 6, failed: 0, messages: 1_200.5, ticks: { live: 90, sandbox: 0 } },
  connections: 3,
  lag_ms: { live: 250, sandbox: null },
  memory_bytes: 2 ** 30,
  loop_lag_ms: 12.5,
  disk: { free_bytes: 5, bytes: 10 },
};

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.close());

const run = (name: string) => ({ id: randomUUID(), name });
const names = async () => (await listNodes(db.pool)).map(({ name }) => name);
const age = (name: string, seconds: number) =>
  db.pool.query("UPDATE node_report SET reported_at = reported_at - make_interval(secs => $2) WHERE name = $1", [name, seconds]);

test("nodes are listed by name with what they last reported", async () => {
  const [b, a] = [run("b:3000"), run("a:3000")];
  await writeNodeReport(db.pool, b, REPORT);
  await writeNodeReport(db.pool, a, { ...REPORT, rates: null });
  await writeNodeReport(db.pool, b, { ...REPORT, connections: 4, disk: null });
  expect(await listNodes(db.pool)).toEqual([
    { ...REPORT, rates: null, name: "a:3000", age_ms: expect.any(Number), silent: false },
    { ...REPORT, connections: 4, disk: null, name: "b:3000", age_ms: expect.any(Number), silent: false },
  ]);
});

test("a node that does not report is silent, later it is no longer shown, and other nodes delete it", async () => {
  const [dead, other] = [run("dead"), run("other")];
  await writeNodeReport(db.pool, dead, REPORT);
  await writeNodeReport(db.pool, other, REPORT);
  await age("dead", NODE_SILENT_AFTER_S);
  expect(await listNodes(db.pool)).toMatchObject([
    { name: "dead", silent: true },
    { name: "other", silent: false },
  ]);
  await age("dead", NODE_FORGOTTEN_AFTER_S);
  expect(await names()).toEqual(["other"]);
  expect(await db.prisma.nodeReport.count()).toBe(2);
  await writeNodeReport(db.pool, other, REPORT);
  expect(await db.prisma.nodeReport.count()).toBe(1);
  // It was only suspended.
  await writeNodeReport(db.pool, dead, REPORT);
  expect(await names()).toEqual(["dead", "other"]);
});

test("a restarted node takes the place of its earlier run, and only a node itself takes its report back", async () => {
  const [crashed, restarted] = [run("a"), run("a")];
  await writeNodeReport(db.pool, crashed, REPORT);
  await succeedNode(db.pool, restarted);
  await writeNodeReport(db.pool, restarted, { ...REPORT, connections: 0 });
  await removeNodeReport(db.pool, crashed);
  expect(await listNodes(db.pool)).toMatchObject([{ name: "a", connections: 0 }]);
  await removeNodeReport(db.pool, restarted);
  expect(await names()).toEqual([]);
});

test("a report of another release that cannot be read is left out, and one with more fields is read", async () => {
  await writeNodeReport(db.pool, run("newer"), { ...REPORT, later: true } as NodeReport);
  await writeNodeReport(db.pool, run("foreign"), { version: "9" } as NodeReport);
  expect(await names()).toEqual(["newer"]);
});

test("of more nodes than are shown, those that reported last are shown", async () => {
  await writeNodeReport(db.pool, run("old"), REPORT);
  await age("old", 5);
  for (let count = 0; count < NODES_MAX_COUNT; count += 1) await writeNodeReport(db.pool, run(`n${count}`), REPORT);
  expect(await names()).toHaveLength(NODES_MAX_COUNT);
  expect(await names()).not.toContain("old");
});
