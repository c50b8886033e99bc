import { MINUTE_MS } from "#lib/units";

/** What became of a tick that the service took. */
export const TAKEN = "taken";

/** Ticks of one ticker as columns, one array for each value. What is unknown is NaN. */
export interface TickColumns {
  /** Unix milliseconds. */
  readonly time: Float64Array;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  /** Real volume, where the source has one. */
  readonly volume: Float64Array;
  /** When it came, Unix milliseconds; unknown for imported ticks. */
  readonly received: Float64Array;
  /** Who sent it: a provider, or push; for imported ticks the format of the file. */
  readonly source: readonly string[];
  /** TAKEN, or why it was not taken. */
  readonly outcome: readonly string[];
}

/** The columns that hold numbers, in their order. */
const TICK_NUMBERS = ["time", "bid", "ask", "volume", "received"] as const;

/** No ticks. */
export const NO_TICKS: TickColumns = {
  time: new Float64Array(0),
  bid: new Float64Array(0),
  ask: new Float64Array(0),
  volume: new Float64Array(0),
  received: new Float64Array(0),
  source: [],
  outcome: [],
};

/** Rows of ticks, chosen by number. */
export function pickTicks(ticks: TickColumns, rows: ArrayLike<number>): TickColumns {
  // Loops: Float64Array.from takes thirty times as long.
  function numbers(column: Float64Array): Float64Array {
    const picked = new Float64Array(rows.length);
    for (let at = 0; at < rows.length; at += 1) picked[at] = column[rows[at] as number] as number;
    return picked;
  }
  function texts(column: readonly string[]): string[] {
    const picked: string[] = [];
    for (let at = 0; at < rows.length; at += 1) picked.push(column[rows[at] as number] as string);
    return picked;
  }
  return {
    time: numbers(ticks.time),
    bid: numbers(ticks.bid),
    ask: numbers(ticks.ask),
    volume: numbers(ticks.volume),
    received: numbers(ticks.received),
    source: texts(ticks.source),
    outcome: texts(ticks.outcome),
  };
}

/** The rows [from, to) by their numbers. */
export function sliceTicks(ticks: TickColumns, from: number, to: number): TickColumns {
  return {
    time: ticks.time.subarray(from, to),
    bid: ticks.bid.subarray(from, to),
    ask: ticks.ask.subarray(from, to),
    volume: ticks.volume.subarray(from, to),
    received: ticks.received.subarray(from, to),
    source: ticks.source.slice(from, to),
    outcome: ticks.outcome.slice(from, to),
  };
}

/** Ticks in one, each part after the one before. */
export function chainTicks(parts: readonly TickColumns[]): TickColumns {
  const filled = parts.filter(({ time }) => time.length > 0);
  if (filled.length <= 1) return filled[0] ?? NO_TICKS;
  const rows = filled.reduce((sum, { time }) => sum + time.length, 0);
  function numbers(name: (typeof TICK_NUMBERS)[number]): Float64Array {
    const column = new Float64Array(rows);
    let at = 0;
    for (const part of filled) {
      column.set(part[name], at);
      at += part.time.length;
    }
    return column;
  }
  return {
    time: numbers("time"),
    bid: numbers("bid"),
    ask: numbers("ask"),
    volume: numbers("volume"),
    received: numbers("received"),
    source: filled.flatMap(({ source }) => source),
    outcome: filled.flatMap(({ outcome }) => outcome),
  };
}

/** The same ticks by time; those of one time stay in their order. */
export function sortTicks(ticks: TickColumns): TickColumns {
  const { time } = ticks;
  let isSorted = true;
  for (let row = 1; row < time.length && isSorted; row += 1) isSorted = (time[row - 1] as number) <= (time[row] as number);
  if (isSorted) return ticks;
  return pickTicks(
    ticks,
    Uint32Array.from(time, (_, row) => row).sort((a, b) => (time[a] as number) - (time[b] as number) || a - b),
  );
}

/**
 * The ticks that show where several sources have some: of each minute those of the last source that has any in it, so that ticks of
 * two sources are never mixed within a kline. Ascending by time.
 * @param parts the ticks of each source, later ones over earlier ones
 */
export function foldTicks(parts: readonly TickColumns[]): TickColumns {
  const filled = parts.filter(({ time }) => time.length > 0);
  if (filled.length <= 1) return sortTicks(filled[0] ?? NO_TICKS);
  const sourceOf = new Map<number, number>();
  for (const [part, { time }] of filled.entries()) for (const at of time) sourceOf.set(Math.floor(at / MINUTE_MS), part);
  const shown = filled.map((ticks, part) => {
    const rows: number[] = [];
    for (const [row, at] of ticks.time.entries()) if (sourceOf.get(Math.floor(at / MINUTE_MS)) === part) rows.push(row);
    return rows.length === ticks.time.length ? ticks : pickTicks(ticks, rows);
  });
  return sortTicks(chainTicks(shown));
}
