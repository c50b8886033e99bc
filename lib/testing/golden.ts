import type { Timeframe } from "#lib/contract/primitives";
import { aggregate, foldQuote, type Kline } from "#lib/domain/kline";
import { toQuote } from "#lib/domain/quote";
import type { Tick } from "#lib/domain/tick";
import { createAlignment, TIMEFRAME_SECONDS, type TradingAlignment } from "#lib/domain/timeframe";
import { type OptionalColumn, readKlines, readTicks, type Source } from "./shared-data";

/** The clocks that sources align their klines on. */
export const ALIGNMENTS = {
  UTC: { zone: "UTC", dayStart: "00:00" },
  EET: { zone: "Europe/Athens", dayStart: "00:00" },
} as const;

/** One file to build from another, and how to compare the results. */
export interface GoldenCase {
  readonly from: Source;
  readonly to: Source;
  readonly alignment: keyof typeof ALIGNMENTS;
  /** What is compared in addition to the four prices. */
  readonly columns: readonly OptionalColumn[];
  /** Ranges [from, to) that the lower file covers, if it has gaps. */
  readonly covered?: readonly (readonly [string, string])[];
  /** Applied to the rows of both files when they are read; undefined drops the row. */
  readonly read?: (kline: Kline) => Kline | undefined;
  /** Applied to both sides before the comparison: the precision of the source. */
  readonly publish?: (kline: Kline) => Kline;
  /** Fully covered klines of the higher file that were compared. */
  readonly compared: number;
  /** Known differences of this source, and why; everything else is exact. */
  readonly except?: { readonly why: string; readonly differing?: number; readonly extra?: number };
}

/** The result of a comparison; a difference names the instant and each column as built and as published. */
interface Comparison {
  readonly compared: number;
  readonly differing: string[];
  /** Published, but not built. */
  readonly missing: string[];
  /** Built, but not published. */
  readonly extra: string[];
}

/** M1 klines of ticks. */
export function foldTicks(ticks: readonly Tick[], digits: number, alignment: TradingAlignment): Kline[] {
  const klines: Kline[] = [];
  let kline: Kline | undefined;
  for (const tick of ticks) {
    const time = alignment.openTime("M1", Math.floor(tick.time_msc / 1000));
    if (kline !== undefined && kline.time !== time) klines.push(kline);
    kline = foldQuote(kline, toQuote(tick, digits), tick.volume, "M1", time);
  }
  if (kline !== undefined) klines.push(kline);
  return klines;
}

/** The klines of a file. */
interface FileKlines {
  readonly rows: readonly Kline[];
  readonly columns: ReadonlySet<OptionalColumn>;
}

function isTickFile(source: Source): boolean {
  return ("shared" in source ? source.shared : source.fixture).includes("_ticks_");
}

function foldFile(from: Source, alignment: TradingAlignment): FileKlines {
  const { ticks, digits } = readTicks(from);
  return { rows: foldTicks(ticks, digits, alignment), columns: new Set(["tick_volume", "real_volume", "spread"]) };
}

const instant = (seconds: number) => new Date(seconds * 1000).toISOString();

/**
 * Builds the klines of a case from its lower file and compares each fully covered one with the published row. Reads each file
 * once, however many cases need it.
 */
export function createCompare(): (golden: GoldenCase) => Comparison {
  const known = new Map<string, FileKlines>();
  function read(source: Source, key: string, reader: () => FileKlines): FileKlines {
    const name = `${JSON.stringify(source)} ${key}`;
    const lower = known.get(name) ?? reader();
    known.set(name, lower);
    return lower;
  }
  return (golden) => {
    const { from, to } = golden;
    const alignment = createAlignment(ALIGNMENTS[golden.alignment]);
    const lower = isTickFile(from)
      ? read(from, golden.alignment, () => foldFile(from, alignment))
      : read(from, "", () => readKlines(from));
    return compare(
      golden,
      lower,
      read(to, "", () => readKlines(to)),
      alignment,
    );
  };
}

function compare(
  golden: GoldenCase,
  { rows, columns: known }: FileKlines,
  higher: FileKlines,
  alignment: TradingAlignment,
): Comparison {
  const keep = golden.read;
  const lower = { rows: keep === undefined ? rows : rows.flatMap((row) => keep(row) ?? []), columns: known };
  const timeframe = higher.rows[0]?.timeframe as Timeframe;
  const first = lower.rows[0] as Kline;
  const last = lower.rows.at(-1) as Kline;
  const covered = golden.covered?.map((stretch) => stretch.map((at) => Date.parse(at) / 1000)) ?? [
    [first.time, last.time + TIMEFRAME_SECONDS[last.timeframe]],
  ];
  const isCovered = ({ time }: Kline) =>
    covered.some(([from = 0, to = 0]) => time >= from && alignment.nextOpenTime(timeframe, time) <= to);

  const publish = golden.publish ?? ((kline: Kline) => kline);
  const built = new Map(aggregate(lower.rows, timeframe, alignment).map((kline) => [kline.time, publish(kline)]));
  const columns = ["open", "high", "low", "close", ...golden.columns] as const;
  const lacking = golden.columns.filter((column) => !lower.columns.has(column) || !higher.columns.has(column));
  if (lacking.length > 0) throw new Error(`Not in both files: ${lacking.join(", ")}`);
  const published = golden.read === undefined ? higher.rows : higher.rows.flatMap((row) => golden.read?.(row) ?? []);
  const differing: string[] = [];
  const missing: string[] = [];
  let compared = 0;
  for (const row of published.filter(isCovered).map(publish)) {
    const kline = built.get(row.time);
    if (kline === undefined) {
      missing.push(instant(row.time));
      continue;
    }
    compared += 1;
    const differences = columns.filter((column) => kline[column] !== row[column]);
    if (differences.length > 0) {
      const words = differences.map((column) => `${column} ${kline[column]} for ${row[column]}`);
      differing.push(`${instant(row.time)} ${words.join(", ")}`);
    }
  }
  const times = new Set(higher.rows.map((row) => row.time));
  const from = higher.rows[0]?.time ?? 0;
  const to = higher.rows.at(-1)?.time ?? 0;
  const extra = [...built.values()].filter(
    (kline) => kline.time >= from && kline.time <= to && isCovered(kline) && !times.has(kline.time),
  );
  return { compared, differing, missing, extra: extra.map(({ time }) => instant(time)) };
}
