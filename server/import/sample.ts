import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import { DAY_S, HOUR_S } from "#lib/units";
import { cellTexts } from "./columns";
import type { Recognition } from "./format";
import type { Layout, Role } from "./layout";
import { AS_WRITTEN, type Row } from "./row";

/** Maximum number of lines that are examined, spread over the head. */
const LINES_MAX_COUNT = 2_000;
/** Prices have at most this many decimals; more are floating-point noise and say nothing about the source's digits. */
const DECIMALS_MAX_COUNT = 8;
/** Length of the shortest month: steps from this length on are months. */
const MN1_MIN_S = 28 * DAY_S;
const MN1_MAX_S = 31 * DAY_S;
/** Steps needed before they show a timeframe. */
const STEADY_MIN_STEPS = 10;

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
  /** True when any row has a spread. */
  readonly hasSpread: boolean;
  /** True when any row has a volume: a volume of 0 then means that there was no quote. */
  readonly hasVolume: boolean;
  /** The first value of a symbol column. */
  readonly symbol: string | null;
  /** The longest timeframe that klines can have by the steps between their times; null for ticks, and without a step. */
  readonly timeframe: Timeframe | null;
  /** True when most of many steps are as long as the timeframe: then it has no other. */
  readonly steady: boolean;
}

interface Texts {
  decimals: number;
  wholePrices: boolean;
  wholeSpreads: boolean;
  hasSpread: boolean;
  symbol: string | null;
}

function textsOf(layout: Layout | null, head: Buffer, isWhole: boolean): Texts {
  const texts: Texts = { decimals: 0, wholePrices: true, wholeSpreads: true, hasSpread: false, symbol: null };
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
      if (role === "spread") texts.hasSpread = true;
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

/** Seconds between rows; some files begin with the newest row. */
function stepsOf(timesMs: readonly number[]): number[] {
  const steps = timesMs.slice(1).map((time, index) => Math.abs(time - (timesMs[index] as number)) / 1000);
  return steps.filter((step) => step > 0);
}

/** The longest timeframe that matches the steps between times: M1 rows have a step of a minute somewhere, H1 rows never do. */
function timeframeOf(timesMs: readonly number[], stepsS: readonly number[]): Timeframe | null {
  const stepS = stepsS.reduce((least, step) => Math.min(least, step), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(stepS)) return null;
  if (stepS >= MN1_MIN_S) return "MN1";
  const fitting = TIMEFRAMES_ORDER.filter((timeframe) => {
    const lengthS = TIMEFRAME_SECONDS[timeframe];
    // Of a day or a week in UTC, an hour can be missing when the clock of the source is put forward.
    const shortestS = lengthS >= DAY_S ? lengthS - HOUR_S : lengthS;
    return timeframe !== "MN1" && shortestS <= stepS && timesMs.every((time) => time % (Math.min(lengthS, 3_600) * 1000) === 0);
  });
  return fitting[fitting.length - 1] ?? "M1";
}

/** Whether most of many steps are as long as a timeframe. */
function isSteady(stepsS: readonly number[], timeframe: Timeframe | null): boolean {
  if (timeframe === null) return false;
  const lengthS = TIMEFRAME_SECONDS[timeframe];
  const isOne = (step: number) => (timeframe === "MN1" ? step >= MN1_MIN_S && step <= MN1_MAX_S : step === lengthS);
  return stepsS.length >= STEADY_MIN_STEPS && stepsS.filter(isOne).length * 2 > stepsS.length;
}

/**
 * Samples the head of a file: times on the clock of the file, prices unscaled.
 * @param head the first bytes of the file, decompressed
 * @param isWhole true when the head is the complete file
 */
export function takeSample(recognition: Recognition, head: Buffer, isWhole: boolean): Sample {
  const times: number[] = [];
  let hasVolume = false;
  const reader = recognition.createReader(AS_WRITTEN, {
    row(row: Row) {
      times.push(row.timeMs);
      if (row.tickVolume > 0 || row.realVolume > 0) hasVolume = true;
    },
  });
  reader.push(head);
  if (isWhole) reader.end();
  const texts = textsOf(recognition.layout, head, isWhole);
  const steps = recognition.kind === "klines" ? stepsOf(times) : [];
  const stated = recognition.timeframe;
  const timeframe = recognition.kind === "klines" ? (stated ?? timeframeOf(times, steps)) : null;
  const steady = stated !== undefined || isSteady(steps, timeframe);
  return { rows: times.length, hasVolume, timeframe, steady, ...texts, symbol: texts.symbol ?? recognition.symbol ?? null };
}
