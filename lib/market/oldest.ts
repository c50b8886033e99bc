import { Fault } from "#lib/fault";
import { DAY_MS } from "#lib/units";
import type { Call } from "./question";

/**
 * The earliest time of data that so many days of history include, Unix milliseconds: whole UTC days, besides today. 0 for all.
 * @param days null for no bound
 */
export const oldestOf = (days: number | null, nowMs: number): number =>
  days === null ? 0 : Math.max(0, nowMs - (nowMs % DAY_MS) - days * DAY_MS);

/**
 * The one guard of history: requires that nothing before it is asked for. A call that names no beginning is cut there instead.
 * @param atMs from when on data was asked for, or until when where only that was named, Unix milliseconds
 * @param parameter that named it
 * @throws Fault not_in_plan
 */
export function requireHistory({ oldestMs }: Pick<Call<unknown>, "oldestMs">, atMs: number, parameter: string): void {
  if (atMs >= oldestMs) return;
  const oldest = new Date(oldestMs).toISOString();
  throw new Fault("not_in_plan", { parameter, detail: `Your account has history from ${oldest} on.`, oldest });
}
