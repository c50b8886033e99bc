import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import { DAY_S } from "#lib/units";
import { cellTexts } from "./columns";
import type { Recognition } from "./format";
import type { Layout, Role } from "./layout";
import type { Row } from "./row";

/** Maximum number of lines that are examined, spread over the head. */
const LINES_MAX_COUNT = 2_000;
/** Prices have at most this many decimals; more are floating-point noise and say nothing about the source's digits. */
const DECIMALS_MAX_COUNT = 8;
/** Length of the shortest month: steps from this length on are months. */
const MN1_MIN_S = 28 * DAY_S;

const PRICE_ROLES: readonly (Role | null)[] = ["bid", "ask", "open", "high", "low", "close"];

/** What the beginning of a file shows about its values. */
export interface Sample {
  readonly rows: number;
  /** The most decimals of any price. */
  readonly decimals: number;
  /** True when no price has a decimal point: prices in whole points, or an instrument without decimals. */
  readonly wholePrices: boolean;
  /** True when all spreads are whole numbers, which means points. */
  readonly wholeSpreads: boolean;
  /** True when any row has a volume: a volume of 0 then means that there was no quote. */
  readonly hasVolume: boolean;
  /** The first value of a symbol column. */
  readonly symbol: string | null;
  /** The timeframe of klines, from the steps between their times. */
  readonly timeframe: Timeframe | null;
}

interface Texts {
  decimals: number;
  wholePrices: boolean;
  wholeSpreads: boolean;
  symbol: string | null;
}

function textsOf(layout: Layout | null, head: Buffer, isWhole: boolean): Texts {
  const texts: Texts = { decimals: 0, wholePrices: true, wholeSpreads: true, symbol: null };
  if (layout === null) return { ...texts, wholePrices: false };
  const all = head.toString("latin1").split(/\r?\n/);
  // The last line of a head may be incomplete.
  const lines = (isWhole ? all : all.slice(0, -1)).slice(layout.headerLines).filter((line) => line !== "");
  if (lines.length === 0) return { ...texts, wholePrices: false };
  const step = Math.max(1, Math.floor(lines.length / LINES_MAX_COUNT));
  for (let index = 0; index < lines.length; index += step) {
    const cells = cellTexts(lines[index] as string, layout.separator);
    layout.roles.forEach((role, column) => {
      const cell = cells[column] ?? "";
      if (cell === "") return;
      if (role === "symbol") texts.symbol ??= cell;
      const [, decimals] = cell.split(layout.decimalMark ?? ".");
      if (role === "spread" && (Number(decimals ?? 0) !== 0 || /e-/i.test(cell))) texts.wholeSpreads = false;
      if (!PRICE_ROLES.includes(role)) return;
      if (decimals === undefined) return;
      texts.wholePrices = false;
      if (decimals.length <= DECIMALS_MAX_COUNT) texts.decimals = Math.max(texts.decimals, decimals.length);
    });
  }
  return texts;
}

/** The longest timeframe that matches the steps between times: M1 rows have a step of a minute somewhere, H1 rows never do. */
function timeframeOf(timesMs: readonly number[]): Timeframe | null {
  let stepS = Number.POSITIVE_INFINITY;
  for (let index = 1; index < timesMs.length; index += 1) {
    // Some files begin with the newest row.
    const step = Math.abs((timesMs[index] as number) - (timesMs[index - 1] as number)) / 1000;
    if (step > 0 && step < stepS) stepS = step;
  }
  if (!Number.isFinite(stepS)) return null;
  if (stepS >= MN1_MIN_S) return "MN1";
  const fitting = TIMEFRAMES_ORDER.filter((timeframe) => {
    const lengthS = TIMEFRAME_SECONDS[timeframe];
    return timeframe !== "MN1" && lengthS <= stepS && timesMs.every((time) => time % (Math.min(lengthS, 3_600) * 1000) === 0);
  });
  return fitting[fitting.length - 1] ?? "M1";
}

/**
 * Samples the head of a file: times on the clock of the file, prices unscaled.
 * @param head the first bytes of the file, decompressed
 * @param isWhole true when the head is the complete file
 */
export function takeSample(recognition: Recognition, head: Buffer, isWhole: boolean): Sample {
  const times: number[] = [];
  let hasVolume = false;
  const settings = { toUtcMs: (ms: number) => ms, pointDigits: null, spreadDigits: null, overrulesOffset: false };
  const reader = recognition.createReader(settings, {
    row(row: Row) {
      times.push(row.timeMs);
      if (row.tickVolume > 0 || row.realVolume > 0) hasVolume = true;
    },
    malformed: () => undefined,
    withoutQuote: () => undefined,
  });
  reader.push(head);
  if (isWhole) reader.end();
  const texts = textsOf(recognition.layout, head, isWhole);
  const timeframe =
    recognition.kind === "klines" ? (recognition.timeframe ?? recognition.exported?.timeframe ?? timeframeOf(times)) : null;
  return { rows: times.length, hasVolume, timeframe, ...texts, symbol: texts.symbol ?? recognition.symbol ?? null };
}
