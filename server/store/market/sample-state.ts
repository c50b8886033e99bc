import type { FeedBucket } from "#lib/contract/service-status";

/** The state of a sample `row`: rows of earlier releases have none, and do not tell a venue without a provider from a closed market. */
export const stateIn = (row: string) => `
  coalesce(${row}.state, CASE
    WHEN ${row}.expected = 0 THEN CASE WHEN ${row}.lag_ms IS NULL THEN 'not_bound' ELSE 'closed' END
    WHEN ${row}.fresh = ${row}.expected THEN 'operational'
    WHEN ${row}.fresh * 2 < ${row}.expected THEN 'down'
    ELSE 'degraded' END)`;

/** What is counted of the samples of a period. */
export interface FeedCounts {
  readonly seen: number;
  readonly fed: number;
  readonly idle: number;
  readonly unbound: number;
  readonly failed: number;
}

const count = (which: string, name: string) => `count(*) FILTER (WHERE ${stateIn("health_sample")} ${which})::int AS ${name}`;

/** The columns of FeedCounts, for a query of `health_sample`. */
export const FEED_COUNTS = [
  count("<> 'no_data'", "seen"),
  count("= 'operational'", "fed"),
  count("IN ('closed', 'not_bound')", "idle"),
  count("= 'not_bound'", "unbound"),
  count("= 'down'", "failed"),
].join(", ");

/** A period without samples. */
export const UNFED: FeedBucket = { minutes: 0, well: 0, idle: 0, not_bound: 0, down: 0 };

export function feedBucket({ seen, fed, idle, unbound, failed }: FeedCounts): FeedBucket {
  return { minutes: seen, well: fed, idle, not_bound: unbound, down: failed };
}
