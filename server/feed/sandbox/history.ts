import type { FormulaMinutes } from "#server/store/data/coverage-report";
import { pricedRuns } from "./formula";
import { HISTORY_START_S } from "./klines";

/** How far back the sandbox goes, and which minutes have prices. Computes none of them. */
export function sandboxHistory(seed: number): { readonly startS: number; readonly minutes: FormulaMinutes } {
  return { startS: HISTORY_START_S, minutes: (listing, calendar, span) => pricedRuns(listing, calendar, seed, span) };
}
