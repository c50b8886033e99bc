import { pickRows } from "#lib/domain/columns";
import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import type { Row } from "./row";

/** Ticks of a file that make its klines, ascending by time: all of one source, and all taken. An unknown volume is NaN. */
export type FileTicks = Pick<TickColumns, "time" | "bid" | "ask" | "volume">;

/** Columns with room for so many ticks, all 0. */
export function emptyTicks(rows: number): FileTicks {
  const column = () => new Float64Array(rows);
  return { time: column(), bid: column(), ask: column(), volume: column() };
}

/** What a file of klines has. */
export const NO_FILE_TICKS = emptyTicks(0);

/** Writes a row of a file into row `at`. */
export function setTick(ticks: FileTicks, at: number, { timeMs, bid, ask, volume }: Row): void {
  ticks.time[at] = timeMs;
  ticks.bid[at] = bid;
  ticks.ask[at] = ask;
  ticks.volume[at] = volume;
}

/** The same ticks by time; those of one time stay in the order of the file. */
export function byTime(ticks: FileTicks): FileTicks {
  const { time } = ticks;
  const order = [...time.keys()].sort((a, b) => (time[a] as number) - (time[b] as number));
  return pickRows(ticks, order);
}

/** The ticks as they are stored. @param format the id of the format of their file */
export function storedTicks({ time, bid, ask, volume }: FileTicks, format: string): TickColumns {
  const rows = time.length;
  return {
    time,
    bid,
    ask,
    volume,
    received: new Float64Array(rows).fill(Number.NaN),
    source: new Array<string>(rows).fill(format),
    outcome: new Array<string>(rows).fill(TAKEN),
  };
}
