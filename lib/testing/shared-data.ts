import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { roundTo } from "#lib/domain/price";
import type { Tick } from "#lib/domain/tick";
import { TIMEFRAMES_ORDER } from "#lib/domain/timeframe";

/** Real recorded market data next to the checkout; absent in a public clone, where its tests are skipped. */
const SHARED_DATA = path.resolve(process.cwd(), "../shared/data");
/** A few of its rows, whose licence allows the project to include them. */
const FIXTURES = path.resolve(process.cwd(), "lib/testing/fixtures");

export const hasSharedData = existsSync(SHARED_DATA);
/** For test titles: the reason for skipped tests. */
export const SHARED_DATA_NOTICE = hasSharedData ? "" : " (skipped: ../shared/data is absent)";

/** The text of a file in the shared data. */
export const sharedText = (file: string): string => readFileSync(path.join(SHARED_DATA, file), "utf8");

/** Columns that only some sources have. */
export type OptionalColumn = "tick_volume" | "real_volume" | "spread";

/** A file of klines; a column the source lacks holds 0 (real_volume: null). */
interface SourceKlines {
  readonly rows: Kline[];
  readonly digits: number;
  readonly columns: ReadonlySet<OptionalColumn>;
}

/** Where a set of rows is: a path in the shared data, or a fixture of the project. */
export type Source = { readonly shared: string } | { readonly fixture: string };

function linesOf(source: Source): { columns: string[]; lines: string[] } {
  const file = "shared" in source ? path.join(SHARED_DATA, `${source.shared}.csv.gz`) : path.join(FIXTURES, source.fixture);
  const bytes = readFileSync(file);
  const text = file.endsWith(".gz") ? gunzipSync(bytes).toString("utf8") : bytes.toString("utf8");
  const [header = "", ...lines] = text.trimEnd().split("\n");
  return { columns: header.split(","), lines };
}

/** Decimal places of the longest number in a column. */
function digitsOf(lines: readonly string[], column: number): number {
  return Math.max(...lines.slice(0, 5_000).map((line) => (line.split(",")[column]?.split(".")[1] ?? "").length));
}

function nameOf(source: Source): string {
  return path.basename("shared" in source ? source.shared : source.fixture);
}

/** Reads a tick file (`time_ms,bid,ask,bid_volume,ask_volume`); the bid volume is the real volume. */
export function readTicks(source: Source): { ticks: Tick[]; digits: number } {
  const { lines } = linesOf(source);
  const ticker = (nameOf(source).split("_")[0] ?? "").toUpperCase();
  const ticks = lines.map((line) => {
    const [time, bid, ask, volume] = line.split(",");
    const tick = { ticker, time_msc: Number(time), bid: Number(bid), ask: Number(ask) };
    return volume ? { ...tick, volume: Number(volume) } : tick;
  });
  return { ticks, digits: digitsOf(lines, 1) };
}

/** Reads a kline or quote-bar file: bid prices, spread from points to price units, bid volume as real volume. */
export function readKlines(source: Source): SourceKlines {
  const { columns, lines } = linesOf(source);
  const name = nameOf(source).toUpperCase().split("_");
  const ticker = name[0] ?? "";
  const timeframe = TIMEFRAMES_ORDER.find((candidate) => name.includes(candidate)) as Timeframe;
  const column = (...names: string[]) => columns.findIndex((candidate) => names.includes(candidate));
  const open = column("open", "bid_open");
  const tickVolume = column("tick_volume");
  const realVolume = column("real_volume", "bid_volume");
  const spread = column("spread");
  const digits = digitsOf(lines, open);
  const optional: readonly (readonly [OptionalColumn, number])[] = [
    ["tick_volume", tickVolume],
    ["real_volume", realVolume],
    ["spread", spread],
  ];
  const filled = new Set<OptionalColumn>();
  const rows = lines.map((line): Kline => {
    const cells = line.split(",");
    for (const [column, index] of optional) if (cells[index]) filled.add(column);
    const real = cells[realVolume];
    return {
      type: "kline",
      ticker,
      timeframe,
      time: Date.parse(cells[0] ?? "") / 1000,
      open: Number(cells[open]),
      high: Number(cells[open + 1]),
      low: Number(cells[open + 2]),
      close: Number(cells[open + 3]),
      tick_volume: Number(cells[tickVolume] ?? 0),
      real_volume: real ? Number(real) : null,
      spread: roundTo(Number(cells[spread] ?? 0) / 10 ** digits, digits),
    };
  });
  return { rows, digits, columns: filled };
}

/** Every shared file of ticks or klines, as a Source names it. */
export function sharedMarketFiles(): string[] {
  return ["permissive", "nolicence", "copyleft"].flatMap((folder) =>
    readdirSync(path.join(SHARED_DATA, folder)).map((file) => `${folder}/${file.replace(".csv.gz", "")}`),
  );
}
