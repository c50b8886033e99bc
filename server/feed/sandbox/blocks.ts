import type { Timeframe } from "#lib/contract/primitives";
import type { TradingAlignment } from "#lib/domain/timeframe";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { addRows, type Columns, condense, emptySum, makeColumns, type Sum, setRow } from "./columns";
import type { Formula } from "./formula";
import { MINUTES_PER_DAY } from "./path";

/**
 * The lengths in which rows are kept, and how many rows make a block, which is computed and kept as a whole. Making a block
 * takes a few milliseconds at most, so that many readers can take turns.
 */
const GRAINS = {
  M1: { seconds: MINUTE_S, rows: 1_440 },
  M5: { seconds: 5 * MINUTE_S, rows: 1_152 },
  M15: { seconds: 15 * MINUTE_S, rows: 768 },
  M30: { seconds: 30 * MINUTE_S, rows: 768 },
  H1: { seconds: HOUR_S, rows: 768 },
  D1: { seconds: DAY_S, rows: 16 },
} as const;
export type Grain = keyof typeof GRAINS;

/** Names a block: rows `block` × rows per block and following. */
export interface BlockName {
  readonly grain: Grain;
  readonly block: number;
}

/** The longest kept rows from which the klines of a timeframe can be aggregated. */
export function grainOf(timeframe: Timeframe): Grain {
  if (timeframe === "H4") return "H1";
  return timeframe === "W1" || timeframe === "MN1" ? "D1" : timeframe;
}

/** Rows of a block. */
export function rowsPerBlock(grain: Grain): number {
  return GRAINS[grain].rows;
}

/** Days of minutes that making a block takes. */
export function daysPerBlock(grain: Grain): number {
  return (GRAINS[grain].rows * GRAINS[grain].seconds) / DAY_S;
}

/**
 * The number of the row that opens at `openS` (Unix seconds). A trading day opens within half a day of the UTC midnight that
 * begins its date, and has the number of that day.
 */
export function rowAt(grain: Grain, openS: number): number {
  return Math.round(openS / GRAINS[grain].seconds);
}

/** The open time of a row shorter than a day, Unix seconds. */
export function openOf(grain: Exclude<Grain, "D1">, row: number): number {
  return row * GRAINS[grain].seconds;
}

/** Adds the minutes of [fromS, toS) (Unix seconds, on minutes) to the sum. */
export function addMinutes(sum: Sum, minutes: Formula["minutes"], fromS: number, toS: number): void {
  for (let atS = fromS; atS < toS; ) {
    const day = Math.floor(atS / DAY_S);
    const untilS = Math.min(toS, (day + 1) * DAY_S);
    const rows = minutes(day);
    if (rows !== undefined) addRows(sum, rows, (atS - day * DAY_S) / MINUTE_S, (untilS - day * DAY_S) / MINUTE_S);
    atS = untilS;
  }
}

/** Computes a block; undefined when it has no price at all. A function of its arguments, the same on every thread. */
export function makeBlock(formula: Formula, { grain, block }: BlockName, alignment: TradingAlignment): Columns | undefined {
  const made = grain === "D1" ? tradingDays(formula, block, alignment) : shortRows(formula, grain, block);
  return made?.count.some((count) => count > 0) ? made : undefined;
}

function shortRows({ minutes }: Formula, grain: Grain, block: number): Columns | undefined {
  const days = daysPerBlock(grain);
  if (days === 1) return minutes(block);
  const { rows, seconds } = GRAINS[grain];
  const [made, memory] = [makeColumns(rows), makeColumns(MINUTES_PER_DAY)];
  for (let day = 0; day < days; day++) {
    const found = minutes(block * days + day, memory);
    if (found !== undefined) condense(found, seconds / MINUTE_S, made, (day * DAY_S) / seconds);
  }
  return made;
}

function tradingDays(formula: Formula, block: number, alignment: TradingAlignment): Columns {
  const { rows } = GRAINS.D1;
  const [made, memory] = [makeColumns(rows), makeColumns(MINUTES_PER_DAY)];
  // A trading day ends in the UTC day in which the next one begins.
  let last: { day: number; rows: Columns | undefined } | undefined;
  const minutes = (day: number) => {
    if (last?.day !== day) last = { day, rows: formula.minutes(day, memory) };
    return last.rows;
  };
  for (let index = 0; index < rows; index++) {
    const openS = alignment.tradingDayOpen((block * rows + index) * DAY_S + DAY_S / 2);
    const sum = emptySum();
    addMinutes(sum, minutes, openS, alignment.nextOpenTime("D1", openS));
    setRow(made, index, sum);
  }
  return made;
}
