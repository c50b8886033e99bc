import { expect, test } from "vitest";
import type { BackupRun, HealthReport, NodeHealth } from "#lib/contract/portal-health";
import { DAY_MS, DAY_S, HOUR_MS, MINUTE_MS } from "#lib/units";
import { checksOf, liveStep, summaryOf, toneOf, wordOf, worstFirst } from "./health-checks";

const NOW_MS = Date.UTC(2026, 0, 7, 12);

const node = (name: string, given: Partial<NodeHealth> = {}) =>
  ({ name, age_ms: 2_000, silent: false, checks: { store: null, feed_live: null }, disk: null, ...given }) as NodeHealth;
const backup = (ageMs: number, problem: string | null = null): BackupRun => {
  const at = new Date(NOW_MS - ageMs).toISOString();
  return { started_at: at, ended_at: at, bytes: 1, rows: 1, problem };
};
const report = (nodes: readonly NodeHealth[], backups: Partial<HealthReport["backups"]> = {}) =>
  ({
    at_ms: NOW_MS,
    checked: null,
    notes: [],
    nodes,
    backups: { last: backup(HOUR_MS), failed: null, max_age_s: 7 * DAY_S, ...backups },
  }) as unknown as HealthReport;
const backupOf = (backups: Partial<HealthReport["backups"]>) =>
  checksOf(report([node("a")], backups)).find(({ name }) => name === "backup");

test("all is well when every node reports, its checks pass, and the backup is recent", () => {
  const checks = checksOf(report([node("a"), node("b")]));
  expect(checks.map(({ name }) => name)).toEqual(["store", "feed_live", "disk", "nodes", "backup"]);
  expect(checks.every(({ impact, problems }) => impact === null && problems.length === 0)).toBe(true);
  expect(summaryOf(checks)).toBe("Everything works.");
});

test("what has nothing to judge is no success, and the summary says what the live venue lacks", () => {
  const checks = { feed_live: null, prices_live: null };
  const of = (given: Partial<NodeHealth>) =>
    checksOf(report([node("a", { checks, warnings: { mail_server: null }, ...given })], { last: null }));
  const bare = of({ idle: { feed_live: "not_bound", prices_live: "not_bound", mail_server: "not_configured" } });
  expect(bare.slice(0, 3).map((check) => [wordOf(check), toneOf(check)])).toEqual([
    ["Not bound", "neutral"],
    ["Not bound", "neutral"],
    ["Not configured", "neutral"],
  ]);
  expect(summaryOf(bare)).toBe("Sandbox only: no live provider is configured. One warning.");
  expect(liveStep(bare)?.next).toBe("Bind a provider");
  const silent = of({ idle: { feed_live: "no_data", prices_live: "closed" } });
  expect(silent.slice(0, 2).map(wordOf)).toEqual(["No data yet", "Market closed"]);
  expect(summaryOf(silent)).toBe("The live feed has not sent any tick yet. One warning.");
  // The prices that are late say it already.
  const late = of({
    checks: { ...checks, prices_live: "All 54 open instruments have no fresh price" },
    idle: { feed_live: "no_data" },
  });
  expect([liveStep(late), summaryOf(late)]).toEqual([undefined, "One check fails. One warning."]);
  // Of several nodes, one that has something to judge is enough.
  const two = checksOf(report([node("a", { idle: { feed_live: "no_data" } }), node("b")]));
  expect(two.find(({ name }) => name === "feed_live")).toMatchObject({ impact: null, idle: null });
  expect(summaryOf(two)).toBe("Everything works.");
});

test("of several nodes a problem names its own, and an almost full disk is a warning", () => {
  const full = { free_bytes: 2 ** 30, bytes: 100 * 2 ** 30 };
  const checks = checksOf(report([node("a", { disk: full }), node("b", { checks: { store: "no answer" } })]));
  expect(checks).toMatchObject([
    { name: "store", impact: "degraded", problems: ["b: no answer"] },
    { name: "feed_live", impact: null },
    { name: "disk", impact: "warning", problems: ["a: only 1.0 GiB free"] },
    { name: "nodes" },
    { name: "backup" },
  ]);
  expect(summaryOf(checks)).toBe("One check fails. One warning.");
  expect(checksOf(report([node("a", { checks: { store: "no answer" } })]))[0]?.problems).toEqual(["no answer"]);
});

test("what is wrong is listed with the worst first, and a warning after what readers feel", () => {
  const checks = checksOf({
    ...report([node("a", { checks: { feed_live: "The provider refused the login." } })], { last: null }),
    checked: { at_ms: NOW_MS, rest: false, stream: true },
  });
  expect(worstFirst(checks).map(({ name, impact }) => [name, impact])).toEqual([
    ["rest", "down"],
    ["feed_live", "degraded"],
    ["backup", "warning"],
  ]);
});

test("a disk below its reserve is the same problem as a low one, in the words of the node", () => {
  const low = { free_bytes: 2 ** 20, bytes: 100 * 2 ** 30 };
  const checks = checksOf(report([node("a", { disk: low, checks: { disk: "1 MiB are free" } })]));
  expect(checks[0]).toEqual({ name: "disk", impact: "degraded", problems: ["1 MiB are free"], idle: null });
});

test("what an operator wrote for readers is no failing check", () => {
  const at = new Date(NOW_MS - HOUR_MS).toISOString();
  const note = { id: "1", key: "note-1", part: null, automatic: false, title: "Late prices", text: "", impact: "down" } as const;
  const notes = [{ ...note, starts_at: at, ends_at: null, updated_at: at }];
  expect(summaryOf(checksOf({ ...report([node("a")]), notes }))).toBe("Everything works.");
});

test("a silent node is a problem by name, and its old checks do not count", () => {
  const silent = node("b", { silent: true, age_ms: 5 * MINUTE_MS, checks: { store: "no answer" } });
  expect(checksOf(report([node("a"), silent]))).toMatchObject([
    { name: "store", impact: null },
    { name: "feed_live" },
    { name: "disk" },
    { name: "nodes", impact: "degraded", problems: ["b has not reported for 5 min."] },
    { name: "backup" },
  ]);
  expect(checksOf(report([])).find(({ name }) => name === "nodes")?.problems).toEqual(["No node reports."]);
});

test("no backup, an old one and a failed one are warnings, in words", () => {
  expect(backupOf({ last: null })).toMatchObject({ impact: "warning", problems: ["No backup yet."] });
  expect(backupOf({ last: backup(9 * DAY_MS) })).toMatchObject({ impact: "warning", problems: ["Last backup 9 days ago."] });
  expect(backupOf({ last: backup(7 * DAY_MS) })).toMatchObject({ impact: null });
  expect(backupOf({ last: backup(7 * DAY_MS + 1_000) })).toMatchObject({ impact: "warning" });
  expect(backupOf({ failed: backup(HOUR_MS, "The disk is full.") })).toMatchObject({
    impact: "warning",
    problems: ["Backup failed 1 hour ago: The disk is full."],
  });
  expect(summaryOf(checksOf(report([node("a")], { last: null })))).toBe("Everything works. One warning.");
});

test("an operator who backs up by other means is not warned", () => {
  expect(backupOf({ last: null, max_age_s: 0 })).toMatchObject({ impact: null, problems: [], idle: "not_configured" });
  expect(backupOf({ last: backup(900 * DAY_MS), max_age_s: 0 })).toMatchObject({ impact: null });
});
