import { z } from "zod";
import { DAY_S, isoDate, SECOND_MS } from "#lib/units";

/** A time as agents read and write it: a model counts days and hours, not seconds since 1970. */
export const AgentTime = z.string().describe("ISO 8601 in UTC: a day, 2026-01-02, for its midnight, else 2026-01-02T09:30:00Z.");

/** The start of a UTC day as that day, 2026-01-02; any other Unix second as 2026-01-02T09:30:00Z. */
export function agentTime(seconds: number): string {
  const ms = seconds * SECOND_MS;
  return seconds % DAY_S === 0 ? isoDate(ms) : new Date(ms).toISOString().replace(".000Z", "Z");
}
