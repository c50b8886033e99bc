import type { PlanLimits } from "#lib/contract/limits";

/** The limits of a plan, shared by all keys of an account. */
export interface Plan extends PlanLimits {
  readonly name: string;
}

/** A plan in the database. */
export interface PlanRow {
  readonly name: string;
  readonly rest_per_minute: number;
  readonly rest_burst: number;
  readonly stream_connections: number;
  readonly subscriptions_per_connection: number;
}

/** Operators edit these rows by hand. A limit below 1 would block the account without an error. */
const atLeastOne = (limit: number) => Math.max(1, limit);

/** Converts a row to a plan. */
export function toPlan(row: PlanRow): Plan {
  return {
    name: row.name,
    restPerMinute: atLeastOne(row.rest_per_minute),
    restBurst: atLeastOne(row.rest_burst),
    streamConnections: atLeastOne(row.stream_connections),
    subscriptionsPerConnection: atLeastOne(row.subscriptions_per_connection),
  };
}
