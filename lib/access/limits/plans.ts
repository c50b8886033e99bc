import type { PlanLimits } from "#lib/contract/limits";

/** A plan as it is enforced: limits shared by all keys of an account. */
export interface Plan extends PlanLimits {
  readonly name: string;
}

/** A plan as the database has it. */
export interface PlanRow {
  readonly name: string;
  readonly rest_per_minute: number;
  readonly rest_burst: number;
  readonly stream_connections: number;
  readonly subscriptions_per_connection: number;
}

/** An operator edits these rows by hand: a limit below one would shut the account out without a word. */
const atLeastOne = (limit: number) => Math.max(1, limit);

/** The plan of a row. */
export function toPlan(row: PlanRow): Plan {
  return {
    name: row.name,
    restPerMinute: atLeastOne(row.rest_per_minute),
    restBurst: atLeastOne(row.rest_burst),
    streamConnections: atLeastOne(row.stream_connections),
    subscriptionsPerConnection: atLeastOne(row.subscriptions_per_connection),
  };
}
