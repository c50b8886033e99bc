import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "#lib/clock";
import { emptyColumns } from "#lib/domain/columns";
import { importCommand as importsCommand } from "#server/import/index";
import { settleHistoryPlace } from "#server/store/history/place";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createDirectoryStore } from "#server/store/segments/directory-store";
import { objectName } from "#server/store/segments/object-name";
import { createSegments, saidBy } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { IMPORT_NOW_MS, importCommand } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { beginTestImport } from "#server/testing/imports";
import { commandOutcome } from "#server/testing/terminal";
import { historyCommand } from "./history";

const clock = manualClock(IMPORT_NOW_MS);
let database: TestDatabase;
let db: TestDatabase;
let root: string;
beforeEach(async () => {
  [database, root] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-history-"))];
  db = reopened();
  await settleHistoryPlace(db);
});
afterEach(async () => {
  await database.close();
  await rm(root, { recursive: true });
});

/** The same database as another process has it, which has nothing in memory. */
function reopened(): TestDatabase {
  return { ...database, segments: createSegments(createDirectoryStore({ folder: root, clock: systemClock }), 8) };
}

async function importFile(name: string, price: number, from = "2025-03-03T10:00Z"): Promise<{ text: string; file: string }> {
  const file = path.join(root, name);
  const rows = openMinutes(from, 60).map(
    (time) => `${new Date(time * 1_000).toISOString()},${price},${price},${price},${price},5`,
  );
  await writeFile(file, ["time,open,high,low,close,volume", ...rows].join("\n"));
  const { text, exitCode } = await importCommand(reopened(), ["--ticker", "EURUSD", file]);
  return { text: `${exitCode} ${text}`, file };
}

const check = (...args: string[]) => commandOutcome(historyCommand, ["check", ...args], { db: reopened(), clock });

const importsOf = (...args: string[]) => commandOutcome(importsCommand, args, { db: reopened(), clock });
const contents = async (table: string) => {
  const { rows } = await db.pool.query<{ content: string }>(`SELECT content FROM ${table} ORDER BY content`);
  return rows.map(({ content }) => content);
};
const remove = (id: string) => rm(path.join(root, objectName(id)));
const stored = async () => {
  const asked = { ticker: "EURUSD", timeframe: "M1", from: 0, to: IMPORT_NOW_MS, limit: 1e6, end: "oldest" } as const;
  return createKlineStore(reopened()).read(asked);
};

test("npm run history -- check reads all files and ends with 0 where they are right, of all instruments or of one", async () => {
  await importFile("a.csv", 1.1);
  expect(await check()).toEqual({ exitCode: 0, output: `All 1 files are right, in file://${root}.`, errors: "" });
  expect((await check("--ticker", "gbpusd")).output).toContain("All 0 files are right");
});

test("a missing file is reported with what it affects and how to restore it, and following that advice restores it", async () => {
  const { file } = await importFile("a.csv", 1.1);
  const before = await stored();
  const [id = ""] = await contents("history_layer");
  await remove(id);
  const { exitCode, output } = await check("--ticker", "eurusd");
  expect(exitCode).toBe(1);
  expect(output).toMatch(
    new RegExp(
      `^${objectName(id)}: segment ${id} is not in ${root}\n {2}EURUSD {2}M1 of 2025-03 {2}import 1\n {2}EURUSD {2}M1 of 2025-03 {2}what all layers show\n` +
        ` {2}Import 1 came from ${file}: npm run import -- undo 1, then import that again.$`,
      "m",
    ),
  );
  expect(output).toContain(
    `1 of 1 files are damaged or missing, in file://${root}.\nTo have them back as they were, put the files of these names there again from a copy.`,
  );
  expect((await check("--ticker", "GBPUSD")).exitCode).toBe(0);
  const again = await importCommand(reopened(), ["--ticker", "EURUSD", "--force", file]);
  expect(again.text).toContain("a file of stored history is damaged or missing");
  expect(again.text).toContain("npm run history -- check says how to restore it");
  expect((await importsOf("undo", "1")).exitCode).toBe(0);
  await importFile("a.csv", 1.1);
  expect(await stored()).toEqual(before);
  const after = await check();
  expect(after.exitCode).toBe(0);
  expect(after.output).toContain("Import 1 is undone: nothing of it shows.");
});

test("what several imports show together is made again from their files", async () => {
  await importFile("a.csv", 1.1);
  await importFile("b.csv", 1.1001, "2025-03-03T10:30Z");
  const before = await stored();
  expect(before).toHaveLength(90);
  const [visible = ""] = await contents("history_visible");
  await writeFile(path.join(root, objectName(visible)), "other bytes");
  const first = await check();
  expect(first.output).toContain(`segment ${visible} was altered`);
  expect(first.output).toContain("It was made again from the files of its layers.");
  expect(first.exitCode).toBe(0);
  expect((await check()).output).toContain("All 3 files are right");
  expect(await stored()).toEqual(before);
  for (const id of [visible, ...(await contents("history_layer"))]) await remove(id);
  const lost = await check();
  expect(lost.exitCode).toBe(1);
  expect(lost.output).toContain("This command makes it again once the files of its layers are right");
});

test("the report distinguishes klines of the feed, ticks, corrections and pushed klines", async () => {
  const said = (time: number, layer: number) => saidBy({ ...emptyColumns(1), time: Float64Array.of(time) }, layer, 1_000);
  const names = { ticker: "EURUSD", timeframe: "H1" } as const;
  const pushed = await beginTestImport({ db, clock }, { state: "done" });
  await db.pool.query("UPDATE backfill SET pushed_by = 'key one'");
  for (const [time, layer] of [
    [0, 0],
    [31_536_000, pushed],
  ] as const) {
    const id = await db.segments.write(db.pool, said(time, layer), names, 5);
    await db.pool.query(
      "INSERT INTO history_layer (ticker, timeframe, start, layer, content, rows, first, last) VALUES ('EURUSD', 'H1', $1, $2, $3, 2, 0, 0)",
      [time, layer, id],
    );
  }
  const one = Float64Array.of(1);
  const ticks = { time: one, bid: one, ask: one, volume: one, received: one, source: ["x"], outcome: ["taken"] };
  const { id } = await db.segments.writeTicks(db.pool, ticks, "EURUSD", 5);
  await db.pool.query("INSERT INTO tick_segment VALUES ('EURUSD', 'taken', 86400, 0, 0, $1, 1, 1, 1, 1)", [id]);
  const { exitCode, output } = await check();
  expect(exitCode).toBe(1);
  expect(output.match(/has 1 rows, and the database says 2/g)).toHaveLength(2);
  expect(output).toContain("  EURUSD  H1 of 1970  the feed\n  What the feed brought is only in a copy.");
  expect(output).toContain(
    `  EURUSD  H1 of 1971  import ${pushed}\n  Import ${pushed} was pushed by key one: push its klines again.`,
  );
  expect(output).toContain("2 of 3 files are damaged or missing");
  await remove(id);
  expect((await check()).output).toContain("  EURUSD  ticks of 1970-01-02  the feed\n");
});
