import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { hurriedClock, importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";
import { importCommand as command } from "./index";

let database: TestDatabase;
let folder = "";
beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-batches-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.close();
});

function write(name: string, content: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Minutes from an instant on, at a price. */
function minutes(from: string, count: number, price: number): string {
  const start = Date.parse(from) / 1000;
  const rows = Array.from({ length: count }, (_, index) => `${start + index * 60},${price},${price},${price},${price},9,,0`);
  return `time,open,high,low,close,tick_volume,real_volume,spread\n${rows.join("\n")}\n`;
}

const run = (...argv: string[]) => commandOutcome(command, argv, { db: database });
const everything = async (ticker: string) =>
  Promise.all(TIMEFRAMES.map((timeframe) => storedKlines(database, ticker, timeframe)));
const newest = async () => (await database.prisma.backfill.findFirstOrThrow({ orderBy: { number: "desc" } })).number;

test("an import is listed, undone to the klines of before, put back, and can after an undo be imported again, not undone again", async () => {
  await importCommand(database, [write("EURUSD.csv", minutes("2024-03-06T00:00Z", 3_000, 1.09))]);
  const before = await everything("EURUSD");
  const wrong = write("EURUSD_wrong.csv", minutes("2024-03-07T00:00Z", 3_000, 1.05));
  const { text } = await importCommand(database, [wrong, "--accept-doubts"]);
  const number = await newest();
  expect(text).toContain(`This is import ${number}. To undo it: npm run import -- undo ${number}`);
  const after = await everything("EURUSD");
  const { output } = await run("list");
  expect(output).toMatch(
    new RegExp(
      `^${number}  2026-07-01T00:00Z  done  .*EURUSD_wrong.csv\n    EURUSD  2024-03-07T00:00Z to 2024-03-09T01:59Z  1,440 stored, 0 already there, 1,560 overwritten$`,
      "m",
    ),
  );

  const undone = await run("undo", String(number));
  expect(undone).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining("EURUSD: 1,440 klines removed, 1,560 overwritten ones restored"),
  });
  expect(await everything("EURUSD")).toEqual(before);
  expect(await run("undo", String(number))).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining(`Import ${number} is already undone.`),
  });
  expect((await run("list")).output).toContain(`${number}  2026-07-01T00:00Z  undone`);
  const entry = await database.prisma.auditEntry.findFirst({ where: { action: "history.undo" } });
  expect(entry).toMatchObject({
    actor: "command line",
    target: String(number),
    before: { series: [{ ticker: "EURUSD", removed: 1_440, changed: 1_560, added: 0 }] },
  });

  expect(await run("redo", String(number))).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining("EURUSD: 1,440 klines put back, 1,560 overwritten again"),
  });
  expect(await everything("EURUSD")).toEqual(after);
  expect(await run("redo", String(number))).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining(`Import ${number} is not undone.`),
  });
  expect(await database.prisma.auditEntry.count({ where: { action: "history.redo", actor: "command line" } })).toBe(1);
  await run("undo", String(number));

  expect((await importCommand(database, [wrong, "--accept-doubts"])).text).not.toContain("already imported");
  expect(await everything("EURUSD")).toEqual(after);
});

test("an import of rows that are stored is one of its own, and changes neither a kline nor a file of what shows", async () => {
  const rows = minutes("2024-03-30T00:00Z", 4_000, 0.9);
  await importCommand(database, [write("USDCHF.csv", rows), "--accept-doubts"]);
  const first = await newest();
  const before = await everything("USDCHF");
  const shown = async () => {
    const text = "SELECT start::float8, content, sources FROM history_visible WHERE ticker = 'USDCHF' ORDER BY start";
    return (await database.pool.query<{ start: number; content: string; sources: number[] }>(text)).rows;
  };
  const files = await shown();
  const { text } = await importCommand(database, [write("USDCHF_again.csv", `${rows}\n`), "--accept-doubts"]);
  const again = await newest();
  expect(text).toMatch(/stored +0\n +already there +4,000\n +overwritten +0\n/);
  expect(text).toContain(`This was import ${again}: it changes no kline.`);
  expect(files).toHaveLength(2);
  expect(await shown()).toEqual(files.map((file) => ({ ...file, sources: [again, file.sources[1]] })));
  expect((await run("undo", String(first))).output).toContain(`no kline changes: what shows there is of import ${again}`);
  expect(await everything("USDCHF")).toEqual(before);
  await run("undo", String(again));
  expect((await everything("USDCHF")).flat()).toEqual([]);
  await run("redo", String(first));
  expect(await everything("USDCHF")).toEqual(before);
  expect(await shown()).toEqual(files);
});

test("what an interrupted import stored can be given up: nothing of it is put back, and its file can be imported again", async () => {
  // Weekends, too.
  const file = write("AUDUSD.csv", minutes("2023-05-01T00:00Z", 30_000, 0.66));
  await importCommand(database, [file, "--accept-doubts"], {
    clock: hurriedClock(),
    batchKlines: 4_000,
    interruptAt: (line) => /importing: [3-9]\d%/.test(line),
  });
  const first = await newest();
  expect(await run("redo", String(first))).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining(`Import ${first} was not finished. Run its command again: it continues where it stopped.`),
  });
  expect((await run("undo", "--dry-run", String(first))).output).toBe(
    `Nothing of import ${first} shows. Its files can be imported again.`,
  );
  expect((await run("undo", String(first))).output).toBe(`Nothing of import ${first} showed. Its files can be imported again.`);
  expect((await everything("AUDUSD")).flat()).toEqual([]);
  expect((await database.pool.query("SELECT FROM history_layer WHERE layer = $1", [first])).rowCount).toBe(0);
  expect(await run("redo", String(first))).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("none of its klines are kept"),
  });
  const again = await importCommand(database, [file, "--accept-doubts"]);
  expect(again.text).toContain("30,000 M1 klines stored");
  expect(again.text).not.toContain("resumed");
  expect(await newest()).toBe(first + 1);
});

test("--dry-run stores nothing and prints the clock, the first klines in UTC, and what would happen", async () => {
  await importCommand(database, [write("GBPUSD.csv", minutes("2024-03-08T12:00Z", 600, 1.27))]);
  const before = await everything("GBPUSD");
  const [runs, entries] = [await database.prisma.backfill.count(), await database.prisma.auditEntry.count()];
  const rows = minutes("2024-03-08T21:00Z", 100, 1.28).trimEnd().split("\n");
  // The first minute again, once with the same values and once with others; the market closes at 22:00 UTC.
  const file = write("GBPUSD_b.csv", [...rows, rows[1], rows[1]?.replaceAll("1.28", "1.29")].join("\n"));
  const { exitCode, text } = await importCommand(database, [file, "--dry-run", "--accept-doubts"]);
  expect(exitCode).toBe(0);
  expect(text).toContain("clock UTC");
  expect(text).toContain("2024-03-08T21:00:00Z  1.28  1.28  1.28  1.28");
  expect(text).toMatch(
    /Trial, M1 klines:\n {2}files +1\n {2}rows read +102\n {2}would be stored +40\n {2}already there +0\n {2}would be overwritten +60\n {2}repeated in the files +1\n {2}conflicting in the files +1\n {2}in closed hours +40$/,
  );
  expect(await everything("GBPUSD")).toEqual(before);
  expect([await database.prisma.backfill.count(), await database.prisma.auditEntry.count()]).toEqual([runs, entries]);
  expect(await database.prisma.importJob.count({ where: { file } })).toBe(0);
});

test("prices of another instrument are refused, by the stored days around them or by what the pair can cost", async () => {
  await importCommand(database, [write("AUDNZD.csv", minutes("2024-03-04T00:00Z", 3_000, 1.08))]);
  const other = write("x.csv", minutes("2024-03-06T12:00Z", 60, 0.855));
  const argv = ["--ticker", "AUDNZD", other];
  const refused = await importCommand(database, argv);
  expect(refused).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(
      /it is probably not AUDNZD: 0.855 where 1.08 is stored for 2024-03-0\d, off by more than a factor of 1.1/,
    ),
  });
  expect(await storedKlines(database, "AUDNZD", "M1")).toHaveLength(3_000);
  expect(await importCommand(database, ["--ticker", "USDJPY", other])).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining("a price of 0.855 is not one of USDJPY, which is between 67 and 380"),
  });
  expect(await storedKlines(database, "USDJPY", "M1")).toEqual([]);
  expect(await importCommand(database, [...argv, "--force", "--accept-doubts"])).toMatchObject({ exitCode: 0 });
  expect(await storedKlines(database, "AUDNZD", "M1")).toHaveLength(3_060);
  // A year later the stored days say nothing.
  expect(
    (await importCommand(database, ["--ticker", "AUDNZD", write("y.csv", minutes("2025-03-06T12:00Z", 60, 0.855))])).exitCode,
  ).toBe(0);
});

test("nothing is stored of a file whose prices become those of another instrument", async () => {
  const rows = (from: string, count: number, price: number) => minutes(from, count, price).trimEnd().split("\n").slice(1);
  const header = minutes("2024-03-04T00:00Z", 0, 1).trimEnd();
  // Longer than what is read at once.
  const turning = write(
    "AUDCAD.csv",
    [header, ...rows("2024-03-04T00:00Z", 9_000, 0.89), ...rows("2024-03-11T00:00Z", 9_000, 110.5)].join("\n"),
  );
  expect(await importCommand(database, [turning], { batchKlines: 1_000 })).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/NOT IMPORTED: a price of 110.5 is not one of AUDCAD/),
  });
  const stored = await storedKlines(database, "AUDCAD", "M1");
  expect(stored).toEqual([]);
  // The days of the second part are stored already, at other prices.
  await importCommand(database, [write("NZDCAD.csv", minutes("2024-03-06T00:00Z", 4_000, 0.82))]);
  const text = [header, ...rows("2024-02-19T00:00Z", 9_000, 0.82), ...rows("2024-03-06T00:00Z", 9_000, 0.95)].join("\n");
  expect(await importCommand(database, [write("NZDCAD_b.csv", text)], { batchKlines: 1_000 })).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/NOT IMPORTED: it is probably not NZDCAD: 0.95 where 0.82 is stored/),
  });
});

test("prices of another instrument are refused in later files and parts of a run, where nothing else is stored", async () => {
  write("run/CADCHF_2024_1.csv", minutes("2024-03-04T00:00Z", 4_000, 0.65));
  write("run/CADCHF_2024_2.csv", minutes("2024-03-07T00:00Z", 1_400, 0.78));
  const { exitCode, text } = await importCommand(database, [path.join(folder, "run")]);
  expect(exitCode).toBe(1);
  expect(text).toMatch(/CADCHF_2024_2.csv\n(?:.*\n)* {2}NOT IMPORTED: it is probably not CADCHF: 0.78 where 0.65 is stored/);
  expect(await storedKlines(database, "CADCHF", "M1")).toHaveLength(4_000);
  const [header, ...first] = minutes("2024-03-04T00:00Z", 7_000, 0.61).trimEnd().split("\n");
  const [, ...second] = minutes("2024-03-11T00:00Z", 7_000, 0.73).trimEnd().split("\n");
  const turning = write("NZDCHF.csv", [header, ...first, ...second].join("\n"));
  expect(await importCommand(database, [turning], { batchKlines: 1_000 })).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining(
      "from 2024-03-11T00:00Z on it is probably not NZDCHF: 0.73 follows 0.61, and the prices stay there",
    ),
  });
});

test("a file most of whose rows are in closed hours is not stored, and --accept-doubts insists", async () => {
  // A Saturday, in times that state their clock.
  const file = write("AUDCHF.csv", minutes("2024-03-09T10:00Z", 60, 0.58));
  for (const argv of [[file], [file, "--dry-run"]])
    expect(await importCommand(database, argv)).toMatchObject({
      exitCode: 3,
      text: expect.stringContaining(
        "60 of its 60 klines are in hours in which the calendar of AUDCHF is closed, the first at 2024-03-09T10:00Z",
      ),
    });
  expect(await storedKlines(database, "AUDCHF", "M1")).toEqual([]);
  expect((await importCommand(database, [file, "--accept-doubts"])).exitCode).toBe(0);
  expect(await storedKlines(database, "AUDCHF", "M1")).toHaveLength(60);
});

test("many files end with one table, with the refused ones by reason", async () => {
  for (let index = 10; index < 40; index += 1)
    write(
      `many/EURCHF_${index}.csv`,
      index < 30
        ? minutes(`2024-01-24T${index - 10 < 10 ? "0" : ""}${index - 10}:00Z`, 10, 0.94)
        : `gossip ${index}\nabout,prices\n`,
    );
  write("many/EURCHF_29.csv", `${minutes("2024-01-24T19:00Z", 10, 0.94)}rubbish\n`);
  const { exitCode, text } = await importCommand(database, [path.join(folder, "many")]);
  expect(exitCode).toBe(1);
  const [, table = ""] = text.split("Result, M1 klines:\n");
  expect(table).toMatch(/^ {2}files +30, 10 refused\n {2}rows read +201, 1 refused\n/);
  expect(table).toMatch(/ {2}stored +200\n/);
  expect(table.match(/REFUSED/g)).toHaveLength(2);
  expect(table).toMatch(/REFUSED, 1 row: 1 columns, at least \d required\n/);
  expect(table).toMatch(/REFUSED, 10 files: .*\n {4}.*EURCHF_30\.csv, .*EURCHF_31\.csv, .*EURCHF_32\.csv and 7 more\n/);
  expect(text.split("\n").length).toBeLessThan(100);
});

test("the exit code is 1 when no kline of the files is stored, and 0 when they are stored already", async () => {
  const empty = write("EURSEK.csv", "time,open,high,low,close\n");
  expect(await importCommand(database, [empty])).toMatchObject({ exitCode: 1 });
  const file = write("EURNOK.csv", minutes("2024-01-10T00:00Z", 10, 11.4));
  for (const argv of [[file], [file], [file, "--force"]]) expect((await importCommand(database, argv)).exitCode).toBe(0);
});

test("two commands do not change the history of a ticker at the same time", async () => {
  const holder = await database.pool.connect();
  await holder.query("SELECT pg_advisory_lock($1, hashtext($2))", [0x7469636b, "EURDKK"]);
  const file = write("EURDKK.csv", minutes("2024-01-10T00:00Z", 10, 7.45));
  const busy = await importCommand(database, [file]);
  await holder.query("SELECT pg_advisory_unlock_all()");
  holder.release();
  expect(busy).toMatchObject({ exitCode: 1, text: expect.stringContaining("Another command is changing the history of EURDKK") });
  expect((await importCommand(database, [file])).exitCode).toBe(0);
});

test.each([
  [["undo"], "Missing argument: NUMBER."],
  [["undo", "first"], "undo first: must be the number of an import, as list prints it."],
  [["undo", "999999"], "There is no import 999999."],
  [["redo"], "Missing argument: NUMBER."],
  [["redo", "first"], "redo first: must be the number of an import, as list prints it."],
  [["redo", "999999"], "There is no import 999999."],
  [["list", "all"], 'Unexpected argument "all".'],
])("%j is refused as wrong usage", async (argv, message) => {
  expect(await run(...argv)).toMatchObject({ exitCode: 2, errors: expect.stringContaining(message) });
});
