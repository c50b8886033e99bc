import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { openDuckDb } from "#lib/testing/duckdb";
import { decodeTicks, encodeTicks } from "./tick-parquet";

const NAMES = { venue: "live", ticker: "EURUSD" };
const unknown = fc.constant(Number.NaN);
const price = fc.oneof(
  fc.nat(2_000_000).map((points) => points / 100_000),
  fc.double({ noNaN: true }).map((value) => value || 0),
);
const row = fc.record({
  time: fc.nat(4_000_000_000_000),
  bid: price,
  ask: price,
  volume: fc.oneof(unknown, fc.nat()),
  received: fc.oneof(unknown, fc.nat(4_000_000_000_000)),
  source: fc.constantFrom("push", "oanda", "Dukascopy ticks"),
  outcome: fc.constantFrom(TAKEN, TAKEN, "spike"),
});

interface Row extends Record<"time" | "bid" | "ask" | "volume" | "received", number> {
  readonly source: string;
  readonly outcome: string;
}

function columnsOf(rows: readonly Row[]): TickColumns {
  const numbers = (name: "time" | "bid" | "ask" | "volume" | "received") => Float64Array.from(rows, (tick) => tick[name]);
  return {
    time: numbers("time"),
    bid: numbers("bid"),
    ask: numbers("ask"),
    volume: numbers("volume"),
    received: numbers("received"),
    source: rows.map(({ source }) => source),
    outcome: rows.map(({ outcome }) => outcome),
  };
}

test("reading ticks that were written returns every value of them, also unknown ones, of several sources and of no tick", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const ticks = columnsOf(rows);
      expect(await decodeTicks(encodeTicks(ticks, NAMES, 5))).toEqual(ticks);
    }),
  );
});

test("DuckDB reads times, exact prices, sources and reasons", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire-ticks-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const tick = { time: 1_767_225_600_123, bid: 1.08543, ask: 1.08551, volume: Number.NaN, received: 1_767_225_600_181 };
  const rows = [
    { ...tick, source: "oanda", outcome: TAKEN },
    { ...tick, bid: 1.9, volume: 2.5, source: "push", outcome: "spike" },
  ];
  const file = path.join(folder, "ticks.parquet");
  await writeFile(file, encodeTicks(columnsOf(rows), NAMES, 5));
  const duckdb = await openDuckDb();
  onTestFinished(duckdb.close);
  const described = await duckdb.ask(`DESCRIBE SELECT * FROM '${file}'`);
  const guide = await readFile("lib/docs/guides/files.mdx", "utf8");
  const section = guide.slice(guide.indexOf("### Ticks"), guide.indexOf("### Decimals"));
  const named = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", "));
  expect(described.map(({ column_name }) => column_name)).toEqual(named);
  const columns =
    "epoch_ms(time) AS time, bid::VARCHAR AS bid, ask::VARCHAR AS ask, volume, epoch_ms(received_at) AS came, provider, outcome";
  expect(await duckdb.ask(`SELECT ${columns} FROM '${file}'`)).toEqual([
    {
      time: 1_767_225_600_123n,
      bid: "1.08543",
      ask: "1.08551",
      volume: null,
      came: 1_767_225_600_181n,
      provider: "oanda",
      outcome: TAKEN,
    },
    {
      time: 1_767_225_600_123n,
      bid: "1.90000",
      ask: "1.08551",
      volume: 2.5,
      came: 1_767_225_600_181n,
      provider: "push",
      outcome: "spike",
    },
  ]);
});
