import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { readTicks } from "#server/store/history/ticks";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { emptyHistory, hurriedClock, IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";

const CASES = path.resolve(process.cwd(), "../shared/data/import-cases");
const EVERY = { from: 0, to: IMPORT_NOW_MS, limit: 1_000_000, end: "oldest" } as const;
/** A Monday in winter, 08:00 UTC. */
const START_MS = Date.UTC(2024, 0, 8, 8);

let db: TestDatabase;
let folder = "";
beforeAll(async () => {
  db = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-forms-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db.close();
});
beforeEach(() => emptyHistory(db));

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

const run = (...argv: string[]) => importCommand(db, argv);
const closes = async (ticker: string) =>
  (await storedKlines(db, ticker, "M1")).map(({ time, open, close }) => [time * 1000, open, close]);
const ticksOf = async (ticker: string) => {
  const { time, bid } = await readTicks({ client: db.pool, segments: db.segments }, { ticker, ...EVERY });
  return Array.from(time, (at, row) => [at, bid[row] as number] as const);
};
/** Minutes from an instant on, with their prices. */
const minutes = (count: number, fromMs = START_MS, price = 1.09) =>
  Array.from({ length: count }, (_, at) => {
    const open = Number((price + (at % 97) / 1e5).toFixed(5));
    return [fromMs + at * MINUTE_MS, open, Number((open + 0.00005).toFixed(5))] as const;
  });
type Minute = ReturnType<typeof minutes>[number];
const HEADER = "time,open,high,low,close";
const lineOf = (time: string, [, open, close]: Minute) => [time, open, close, open, close].join();
const iso = ([ms]: Minute) => new Date(ms).toISOString();
const textOf = (rows: readonly Minute[], timeOf: (row: Minute) => string = iso) =>
  `${[HEADER, ...rows.map((row) => lineOf(timeOf(row), row))].join("\n")}\n`;

describe("line ends", () => {
  test.each([
    ["CR LF", "\r\n"],
    ["CR CR LF, of a file that was converted twice", "\r\r\n"],
    ["CR, of old Mac programs", "\r"],
  ])("%s are read as LF is", async (_, end) => {
    const rows = minutes(600);
    const text = textOf(rows).replaceAll("\n", end);
    expect(await run("--ticker", "EURUSD", write("a.csv", text))).toMatchObject({ exitCode: 0 });
    expect(await closes("EURUSD")).toEqual(rows);
    const quoted = text.replaceAll(",", ";").replace(/[^;\r\n]+/g, '"$&"');
    expect(await run("--ticker", "GBPUSD", write("b.csv.gz", gzipSync(quoted)))).toMatchObject({ exitCode: 0 });
    expect(await closes("GBPUSD")).toEqual(rows);
    const ticks = `time,bid,ask${end}${rows.map((row) => `${iso(row)},${row[1]},${row[2]}`).join(end)}`;
    expect(await run("--ticker", "AUDUSD", write("c.csv", ticks))).toMatchObject({ exitCode: 0 });
    expect((await ticksOf("AUDUSD")).map(([time]) => time)).toEqual(rows.map(([time]) => time));
  });

  test("a line end of another kind within a line does not hide rows", async () => {
    const rows = minutes(4).map((row) => `${lineOf(iso(row), row)},note`);
    const text = `${HEADER},comment\n${rows[0]}\n${rows[1]}\r${rows[2]}\n${rows[3]}\n`;
    const { exitCode, text: said } = await run("--ticker", "EURUSD", "--timeframe", "M1", write("mixed.csv", text));
    expect([exitCode, said]).toEqual([1, expect.stringContaining("line 3: it has a line end of another kind (CR) in it")]);
  });
});

describe("offsets and zones", () => {
  const local =
    (hours: number, mark = "-") =>
    ([ms]: Minute) =>
      new Date(ms + hours * HOUR_MS).toISOString().slice(0, 19).replace("T", " ").replaceAll("-", mark);
  const zoned =
    (hours: number, suffix: string, mark = "-") =>
    (row: Minute) =>
      `${local(hours, mark)(row)}${suffix}`;

  test.each([
    ["PostgreSQL", zoned(0, "+00")],
    ["PostgreSQL in Brussels", zoned(1, "+01")],
    ["PostgreSQL in New York", zoned(-5, "-05")],
    ["PostgreSQL with microseconds", zoned(0, ".000000+00")],
    ["PostgreSQL in Kolkata", zoned(5.5, "+0530")],
    ["R", zoned(2, " +0200")],
    ["BigQuery", zoned(0, " UTC")],
    ["GMT", zoned(0, " GMT")],
    ["a space and Z", zoned(0, " Z")],
    ["IBKR", zoned(-5, " US/Eastern", "")],
    ["IBKR, two spaces", (row: Minute) => zoned(-5, " US/Eastern", "")(row).replace(" ", "  ")],
    ["IBKR in Hong Kong", zoned(8, " Asia/Hong_Kong", "")],
    ["pandas", zoned(9, " JST")],
    ["EST", zoned(-5, " EST")],
    ["Java", (row: Minute) => `${local(1)(row).replace(" ", "T")}+01:00[Europe/Paris]`],
    ["Etc/GMT+3, which is behind UTC", zoned(-3, " Etc/GMT+3")],
  ] as const)("%s", async (_, timeOf: (row: Minute) => string) => {
    const rows = minutes(60);
    const { exitCode, text } = await run("--ticker", "NZDUSD", write("zoned.csv", textOf(rows, timeOf)));
    expect([exitCode, text]).toEqual([0, expect.stringContaining("clock UTC: each time has an offset")]);
    expect(await closes("NZDUSD")).toEqual(rows);
  });

  test("the offset or the name may change with the clock, and stand in a column of the time of day", async () => {
    const changeMs = Date.UTC(2024, 2, 31, 1);
    const rows = minutes(120, changeMs - HOUR_MS);
    const isSummer = ([ms]: Minute) => ms >= changeMs;
    const files = {
      EURUSD: textOf(rows, (row) => (isSummer(row) ? zoned(2, "+02")(row) : zoned(1, "+01")(row))),
      USDCHF: textOf(rows, (row) => (isSummer(row) ? zoned(2, " CEST")(row) : zoned(1, " CET")(row))),
      EURGBP: textOf(rows, (row) => zoned(isSummer(row) ? 2 : 1, " Europe/Paris")(row)),
      GBPUSD: textOf(rows, (row) => zoned(0, "+00")(row).replace(" ", ",")).replace("time,", "date,time,"),
    };
    for (const [ticker, text] of Object.entries(files)) {
      expect(await run("--accept-doubts", "--force", "--ticker", ticker, write(`${ticker}.csv`, text))).toMatchObject({
        exitCode: 0,
      });
      expect(await closes(ticker)).toEqual(rows);
    }
  });

  test.each([
    ["BST", "Europe/London"],
    ["XYZT", "not a time zone"],
  ])("a name that does not say the zone, %s, asks for --tz, which overrules it", async (name, said) => {
    const rows = minutes(60);
    const file = write("EURUSD.csv", textOf(rows, zoned(1, ` ${name}`)));
    const asked = await run(file);
    expect(asked).toMatchObject({ exitCode: 3, text: expect.stringMatching(new RegExp(`NOT IMPORTED: .*--tz.*${said}`)) });
    expect(asked.text).not.toContain("no valid time");
    expect(await run("--tz", "+01:00", file)).toMatchObject({ exitCode: 0 });
    expect(await closes("EURUSD")).toEqual(rows);
  });

  test("a file of which no row can be read names no clock", async () => {
    const { exitCode, text } = await run(
      "--ticker",
      "EURUSD",
      write(
        "x.csv",
        textOf(minutes(50), () => "2024-01-08 25:00:00"),
      ),
    );
    expect([exitCode, text]).toEqual([1, expect.stringContaining("none of its rows can be read: line 2: no valid time")]);
    expect(text).not.toMatch(/ {2}clock|stored for the same times/);
  });
});

test.each([
  ["seconds of 1972", 1, /^\d{8}$/],
  ["milliseconds of 1972", 1e-3, /^\d{11}$/],
  ["microseconds of 1972", 1e-6, /^\d{14}$/],
  ["nanoseconds of 1972", 1e-9, /^\d{17}$/],
])("%s are read in the unit of the file, and a row of another unit is refused", async (_, unit, shape) => {
  const fromMs = Date.UTC(1972, 5, 1);
  const times = openMinutes("1972-06-01", 60);
  const rows = minutes(60, fromMs, 300).map(([, open, close], at) => [(times[at] ?? 0) * 1000, open, close] as const);
  const timeOf = ([ms]: Minute) => ((BigInt(ms) * BigInt(Math.round(1 / unit))) / 1000n).toString();
  expect(timeOf(rows[0] as Minute)).toMatch(shape);
  const other = `${unit === 1 ? "76000020000" : unit === 1e-9 ? "60000000000" : "60000000"},300,300.1,300,300.1`;
  const file = write("USDJPY.csv", `${textOf(rows, timeOf)}${other}\n`);
  const { text } = await run("--force", "--accept-doubts", file);
  expect(text).toMatch(unit === 1 ? /line 62: its time, .*, is in the future/ : /line 62: its time is before 1971/);
  expect((await closes("USDJPY")).map(([time]) => time)).toEqual(rows.map(([time]) => time));
});

describe("ticks that come newest first", () => {
  /** Several a second, with times that are equal. */
  const ticks = (count: number, fromMs = START_MS) =>
    Array.from(
      { length: count },
      (_, at) => [fromMs + Math.floor(at / 3) * 20_000, Number((1.09 + (at % 211) / 1e5).toFixed(5))] as const,
    );
  const ticksText = (rows: readonly (readonly [number, number])[], isNamed = true) =>
    `time,bid,ask\n${rows.map(([ms, bid]) => `${new Date(ms).toISOString().slice(0, isNamed ? 24 : 19)},${bid},${(bid + 0.0001).toFixed(5)}`).join("\n")}\n`;

  test("they give what the same file gives sorted, in parts, too, and when an interrupted import is resumed", async () => {
    const rows = ticks(30_000);
    const turned = write("turned.csv", ticksText(rows.toReversed()));
    expect(await run("--ticker", "EURUSD", write("sorted.csv", ticksText(rows)))).toMatchObject({ exitCode: 0 });
    const { exitCode, text } = await importCommand(db, ["--ticker", "GBPUSD", turned], { batchTicks: 1_000 });
    expect([exitCode, text]).toEqual([0, expect.not.stringMatching(/out of order|malformed/)]);
    const stopped = await importCommand(db, ["--ticker", "AUDUSD", turned], {
      clock: hurriedClock(),
      batchTicks: 1_000,
      interruptAt: (line) => /importing: [3-9]\d%/.test(line),
    });
    expect(stopped.text).toMatch(/INTERRUPTED: its first [\d,]+ rows are stored, up to \S+:00Z; run the same/);
    expect(await ticksOf("AUDUSD")).toEqual([]);
    expect(await run("--ticker", "AUDUSD", turned)).toMatchObject({ exitCode: 0, text: expect.stringContaining("resumed") });
    for (const ticker of ["EURUSD", "GBPUSD", "AUDUSD"]) {
      expect(await ticksOf(ticker)).toEqual(rows);
      expect(await closes(ticker)).toEqual(await closes("EURUSD"));
    }
  });

  test("a file of one minute is read in its order", async () => {
    const rows = ticks(8);
    await run("--ticker", "EURUSD", write("minute.csv", ticksText(rows.toReversed())));
    expect(await ticksOf("EURUSD")).toEqual(rows);
  });

  test("their clock is found as that of the sorted file is", async () => {
    // Two weeks of winter, from Sunday to Friday 22:00 UTC, on a clock two hours ahead.
    const rows = Array.from(
      { length: 12 * 1_440 },
      (_, at) => [Date.UTC(2024, 0, 8) + at * MINUTE_MS, 1.09 + (at % 50) / 1e5] as const,
    ).filter((_, at) => at % (7 * 1_440) < 5 * 1_440);
    const said = async (all: readonly (readonly [number, number])[]) =>
      /clock .*/.exec((await run("--dry-run", "--ticker", "EURUSD", write("t.csv", ticksText(all, false)))).text)?.[0];
    const sorted = await said(rows);
    expect(sorted).toContain("on any other, rows would be in hours");
    expect(await said(rows.toReversed())).toBe(sorted);
  });

  test.each([
    ["days newest first, their ticks oldest first", (days: (readonly [number, number])[][]) => days.toReversed().flat()],
    [
      "days oldest first, their ticks newest first",
      (days: (readonly [number, number])[][]) => days.flatMap((day) => day.toReversed()),
    ],
    ["a day behind a later one", ([one = [], two = [], three = []]: (readonly [number, number])[][]) => [one, three, two].flat()],
  ])("%s are refused as a whole", async (_, order) => {
    const days = [0, 1, 2].map((day) => ticks(60, START_MS + day * 24 * HOUR_MS));
    const { exitCode, text } = await run("--ticker", "EURUSD", write("days.csv", ticksText(order(days))));
    expect([exitCode, text]).toEqual([
      1,
      expect.stringMatching(/NOT IMPORTED: its ticks are not in one order: line \d+ has 2024/),
    ]);
    expect(await ticksOf("EURUSD")).toEqual([]);
  });
});

describe("rows without a price", () => {
  test.each(["", "NaN", "nan", "null", "None", "n/a", "NA", "-"])("written %j are skipped, however many", async (none) => {
    const rows = minutes(400);
    const gap = Array.from({ length: 300 }, (_, at) => new Date(START_MS + (400 + at) * MINUTE_MS).toISOString());
    const lines = [...gap.map((time) => `${time},${none},${none},${none},${none},`)];
    const half = `${new Date(START_MS + 800 * MINUTE_MS).toISOString()},1.09,1.09,${none},1.09,3`;
    const text = `${HEADER},volume\n${rows.map((row) => `${lineOf(iso(row), row)},5`).join("\n")}\n${lines.join("\n")}\n${half}\n`;
    const klines = await run("--ticker", "USDCAD", write("k.csv", text));
    expect(klines).toMatchObject({ exitCode: 1, text: expect.stringContaining("300 rows skipped: no price\n") });
    expect(klines.text).toMatch(/1 row malformed and skipped:\n {4}line 702: low is/);
    expect(await closes("USDCAD")).toEqual(rows);
    const ticks = `time,bid,ask\n${rows.map((row) => `${iso(row)},${row[1]},${row[2]}`).join("\n")}\n${gap.map((time) => `${time},${none},${none}`).join("\n")}\n`;
    expect(await run("--ticker", "EURUSD", write("t.csv", ticks))).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("300 rows skipped: no price (no bid and ask)"),
    });
  });
});

describe("files that were joined", () => {
  const parts = Array.from({ length: 120 }, (_, at) => minutes(4, START_MS + at * 4 * MINUTE_MS));

  test.each([
    ["plain", (text: string) => text],
    ["with byte order marks", (text: string) => `\uFEFF${text}`],
    [
      "with quotation marks and CR LF",
      (text: string) => text.replace(HEADER, '"time","open","high","low","close"').replaceAll("\n", "\r\n"),
    ],
  ])("%s: the header line again is skipped and counted", async (_, form) => {
    const { exitCode, text } = await run(
      "--ticker",
      "EURUSD",
      write("all.csv", parts.map((part) => form(textOf(part))).join("")),
    );
    expect([exitCode, text]).toEqual([0, expect.stringContaining("119 rows skipped: the header line again")]);
    expect(await closes("EURUSD")).toEqual(parts.flat());
  });

  test.each([
    ["another order of its columns", "time,close,high,low,open\n2024-01-08T20:00:00Z,1.0901,1.0901,1.09,1.09\n"],
    ["more columns", "time,volume,open,high,low,close\n2024-01-08T20:00:00Z,2,1.09,1.0901,1.09,1.0901\n"],
    ["no line end before it", `${HEADER}\n2024-01-08T20:00:00Z,1.09,1.0901,1.09,1.0901\n`],
  ])("a header line with %s refuses the file with its line", async (what, second) => {
    const first = textOf(minutes(30));
    const text = what.startsWith("no line end") ? `${first.trimEnd()}${second}` : `${first}${second}`;
    const line = what.startsWith("no line end") ? 31 : 32;
    const { exitCode, text: said } = await run("--ticker", "EURUSD", write("all.csv", text));
    expect([exitCode, said]).toEqual([
      1,
      expect.stringContaining(`NOT IMPORTED: line ${line} names other columns than the first line`),
    ]);
    expect(await closes("EURUSD")).toEqual([]);
  });
});

describe("a file that cannot be read to its end", () => {
  const rows = minutes(9_000, Date.UTC(2024, 0, 8));
  const whole = textOf(rows);
  const bad = `${whole}${"rubbish\n".repeat(101)}`;

  test.each([
    ["too many malformed rows", "a.csv", () => bad, "more than 100 malformed rows (--max-errors), most of them: 1 columns"],
    ["a cut archive", "b.csv.gz", () => gzipSync(whole).subarray(0, 40_000), "b.csv.gz: "],
    [
      "a bad row of JSON",
      "c.json",
      () =>
        `[${rows.map(([time, open, close]) => JSON.stringify({ time, open, high: close, low: open, close })).join()},{"time":]`,
      "is not valid JSON",
    ],
  ])("%s stores nothing of it", async (_, name, content, reason) => {
    const { exitCode, text } = await importCommand(db, ["--ticker", "EURUSD", "--accept-doubts", write(name, content())], {
      batchKlines: 1_000,
    });
    expect([exitCode, text]).toEqual([1, expect.stringMatching(/ {2}NOT IMPORTED: /)]);
    expect(text).toContain(reason);
    expect(await closes("EURUSD")).toEqual([]);
    expect((await db.pool.query("SELECT FROM import_job")).rowCount).toBe(0);
  });

  test("ticks, and recorded ticks, that cannot be read are not stored either", async () => {
    const lines = rows.map(([time, bid]) => `${time},${bid},${bid + 0.0001},,${time},taken`);
    const recording = `time_msc,bid,ask,volume,received_ms,outcome\n${lines.join("\n")}\n${"rubbish\n".repeat(101)}`;
    const plain = recording.replace(",volume,received_ms,outcome", "").replace(/,,\d+,taken/g, "");
    for (const [ticker, text] of Object.entries({ EURUSD: recording, GBPUSD: plain })) {
      const said = await importCommand(db, ["--ticker", ticker, write(`${ticker}.csv`, text)], { batchTicks: 100 });
      expect(said).toMatchObject({ exitCode: 1, text: expect.stringContaining("NOT IMPORTED: more than 100 malformed rows") });
      expect(await ticksOf(ticker)).toEqual([]);
    }
  });

  test("a different command starts over, even if an interrupted one stored some rows", async () => {
    const file = write("EURUSD.csv", bad);
    const argv = ["--accept-doubts", file];
    const stopped = await importCommand(db, [...argv, "--max-errors", "200"], {
      clock: hurriedClock(),
      batchKlines: 1_000,
      interruptAt: (line) => /importing: [3-9]\d%/.test(line),
    });
    expect(stopped.text).toMatch(/INTERRUPTED: its first [\d,]+ rows are stored, up to \S+Z; run the same command again/);
    expect((await importCommand(db, argv)).text).toContain("NOT IMPORTED: more than 100 malformed rows");
    expect(await closes("EURUSD")).toEqual([]);
  });
});

describe.skipIf(!existsSync(CASES))("the files of ../shared/data/import-cases (skipped where they are absent)", () => {
  test.each([
    ["05-cr-cr-lf/EURUSD_M1.csv", 120],
    ["06-database-offsets/EURUSD_bigquery.csv", 120],
    ["06-database-offsets/EURUSD_brussels.csv", 120],
    ["06-database-offsets/EURUSD_gmt.csv", 120],
    ["06-database-offsets/EURUSD_named.csv", 120],
    ["06-database-offsets/EURUSD_postgres.csv", 120],
    ["06-database-offsets/EURUSD_z_minute.csv", 120],
    ["06-database-offsets/NZDUSD_duckdb.csv", 200],
    ["25-repeated-headers/EURUSD_all.csv", 456],
    ["40-rows-without-prices/USDCAD_M1_empty.csv", 300],
    ["40-rows-without-prices/USDCAD_M1_nan.csv", 300],
  ])("%s", async (name, count) => {
    const file = path.join(CASES, name);
    expect(await run(file)).toMatchObject({ exitCode: 0 });
    const stored = await closes(path.basename(name).slice(0, 6));
    expect(stored).toHaveLength(count);
    const prices = readFileSync(file, "utf8")
      .split(/\r*\n/)
      .map((line) => line.split(","));
    expect(stored.map(([, , close]) => close)).toEqual(prices.map((row) => Number(row[4])).filter((close) => close > 0));
    if (name.startsWith("06")) expect(stored.map(([time]) => time)).toEqual(minutes(count).map(([time]) => time));
  });

  test.each(["EURUSD_ticks", "EURUSD_ticks_short"])("09-newest-first-ticks/%s.csv", async (name) => {
    const file = path.join(CASES, "09-newest-first-ticks", `${name}.csv`);
    expect(await run(file)).toMatchObject({ exitCode: 0 });
    const rows = readFileSync(file, "utf8").trimEnd().split("\n").slice(1).toReversed();
    expect(await ticksOf("EURUSD")).toEqual(
      rows.map((line) => [Date.parse(line.split(",")[0] ?? ""), Number(line.split(",")[1])]),
    );
  });

  test("37-epoch-before-1973/USDJPY_D1.csv", async () => {
    expect((await run(path.join(CASES, "37-epoch-before-1973/USDJPY_D1.csv"))).text).not.toContain("in the future");
  });
});
