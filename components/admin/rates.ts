import type { HealthReport } from "#lib/contract/portal-health";
import { MINUTE_MS } from "#lib/units";

/** What happened per minute between two reports. */
interface Rates {
  readonly calls: number;
  readonly rejected: number;
  readonly failed: number;
  readonly messages: number;
  readonly ticks: Readonly<Record<string, number>>;
}

/** The rates between two reports of the same process; undefined for the first one, and after a restart. */
export function ratesOf(before: HealthReport | undefined, after: HealthReport): Rates | undefined {
  const minutes = before === undefined ? 0 : (after.node.at_ms - before.node.at_ms) / MINUTE_MS;
  if (before === undefined || before.node.process !== after.node.process || minutes <= 0) return undefined;
  const rate = (name: "calls" | "rejected" | "failed" | "messages") => (after.node[name] - before.node[name]) / minutes;
  const ticks = after.venues.map(({ venue, taken }) => {
    const was = before.venues.find((one) => one.venue === venue)?.taken ?? taken;
    return [venue, (taken - was) / minutes] as const;
  });
  return {
    calls: rate("calls"),
    rejected: rate("rejected"),
    failed: rate("failed"),
    messages: rate("messages"),
    ticks: Object.fromEntries(ticks),
  };
}
