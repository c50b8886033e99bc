import type { Principal } from "#lib/access/principal";
import type { Months } from "./months";
import type { StreamUse } from "./stream-use";

/** A logged request. */
export interface LoggedRequest {
  readonly accountId: string;
  readonly keyId: string;
  readonly atMs: number;
  readonly requestId: string;
  readonly operation: string;
  readonly method: string;
  /** Path and query as sent; text that looks like a key is masked when it is logged. */
  readonly path: string;
  readonly status: number;
  readonly code: number;
  readonly latencyMs: number;
  readonly address: string;
  readonly origin: string | null;
  readonly userAgent: string;
  /** The `detail` of the error that was answered; null for a success. */
  readonly detail: string | null;
  /** What it took of the limit of its minute, that limit and what was left, as in its headers; null if it was not counted. */
  readonly cost: number | null;
  readonly limit: number | null;
  readonly remaining: number | null;
}

/** Usage of keys: counted in memory during a request, written in batches in the background. */
export interface Usage {
  /**
   * Counts one answered request, in constant time. True when it should also be logged with `log`. (Most requests of a busy
   * account are not logged, which costs nothing more.)
   * @param code the envelope's code, 0 for success
   * @param units rate-limit units that it took
   */
  count(principal: Principal, operation: string, code: number, latencyMs: number, units: number): boolean;
  /** The current months of accounts, which `count` adds to. */
  readonly months: Pick<Months, "use" | "require">;
  /** Adds a counted request to its account's log. */
  log(request: LoggedRequest): void;
  /** Counts one opened stream connection; report its activity to the result. */
  connected(principal: Principal): StreamUse;
  /** Writes everything pending. Never rejects: what cannot be written stays pending. */
  flush(): Promise<void>;
  /** Ends the background work after a last write. */
  stop(): Promise<void>;
}
