import type { KlineColumns } from "#lib/domain/columns";
import { SECOND_MS } from "#lib/units";
import { Unsure } from "./failure";

/** Rows that show a doubt. */
export const DOUBT_ROWS_COUNT = 3;

/** Why a file is probably not what it seems to be, and rows that show it. */
export interface Doubt {
  readonly reason: string;
  readonly rows: readonly string[];
}

/** Open time in UTC and prices of a kline. */
export function rowText({ time, open, high, low, close }: KlineColumns, row: number): string {
  const at = new Date((time[row] as number) * SECOND_MS).toISOString().slice(0, 19);
  return `${at}Z  ${open[row]}  ${high[row]}  ${low[row]}  ${close[row]}`;
}

/** The error that keeps a doubtful file out. */
export function refusalOf(doubts: readonly Doubt[]): Unsure {
  const reasons = doubts.map(({ reason }) => reason).join("; ");
  return new Unsure(`it is doubtful, nothing of it is stored: ${reasons}. --accept-doubts imports it anyway`);
}

/** Doubts as lines of the report. */
export function doubtLines(doubts: readonly Doubt[], accepted: boolean): string[] {
  return doubts.flatMap(({ reason, rows }) => [
    `  DOUBTFUL${accepted ? ", accepted" : ""}: ${reason}`,
    ...rows.map((row) => `    ${row}`),
  ]);
}
