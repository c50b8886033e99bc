import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { countText, msText } from "../portal/numbers";

/** A length of time with the unit that suits it; an en dash for none. */
export function lengthText(ms: number | null): string {
  if (ms === null || ms < SECOND_MS) return msText(ms);
  if (ms < 2 * MINUTE_MS) return `${(ms / SECOND_MS).toFixed(ms % SECOND_MS === 0 ? 0 : 1)} s`;
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${countText(Math.round(ms / HOUR_MS))} h`;
}
