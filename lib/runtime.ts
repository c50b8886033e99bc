import type { Access } from "#lib/access/access";
import type { Brand } from "#lib/brand";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { IdleReason } from "#lib/contract/service-status";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Market } from "#lib/market/ports";
import type { MarketReports } from "#lib/market/reports";
import type { Metrics } from "#lib/metrics";
import type { Database } from "#server/store/database/db";
import type { Principal } from "./access/principal";
import type { Usage } from "./access/usage/usage";

/**
 * The services of the market process; those of the portal's process are in server/pages/runtime. The server and Next's bundle hold
 * separate copies of every module, so process-wide state is kept in such a registry on globalThis, never in a module.
 */
export interface Runtime {
  readonly env: Env;
  readonly brand: Brand;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly usage: Usage;
  /** Signs and encrypts; never logged, never sent. */
  readonly secrets: { readonly nextAuth: string };
  readonly markets: Readonly<Record<Venue, Market>>;
  /** The markets as pages show them. */
  readonly reports: MarketReports;
  /**
   * Requires a place that a stream connection of this caller could take now, and takes none.
   * @throws Fault too_many_connections
   */
  requireConnectionRoom(principal: Principal, address: string): Promise<void>;
  /** The metrics of all processes of this node, as Prometheus text. */
  scrape(): Promise<string>;
  /**
   * The text of a page that looks the same to everybody, for who reached the service at `host`; undefined where there is none, and
   * on a node without pages.
   * @throws Fault service_unavailable while the portal is starting or busy
   */
  portalPage(path: string, reader: { readonly host: string; readonly address: string }): Promise<string | undefined>;
  /** True from the first moment of a shutdown: new requests are answered with 50302. */
  draining(): boolean;
  ready(): Promise<Readiness>;
}

/** The health of the parts of this process. */
export interface Readiness {
  /** By name: null when nothing degrades the service, else the problem. */
  readonly checks: Readonly<Record<string, string | null>>;
  /** Those that have nothing to judge, and why. */
  readonly idle: Readonly<Record<string, IdleReason>>;
  /** Whether requests may be sent to this process nevertheless. */
  readonly serving: boolean;
  /** How long ago the database was looked at; everything else is as it is now. */
  readonly ageMs: number;
}

const SLOT = Symbol.for("spotwire.runtime");
type Registry = { [SLOT]?: Runtime };

/** Publishes the running services; the server calls it once, tests as they need. */
export function setRuntime(runtime: Runtime | undefined): void {
  if (runtime === undefined) delete (globalThis as Registry)[SLOT];
  else (globalThis as Registry)[SLOT] = runtime;
}

/** The running services; undefined while they are not up, as in the portal's process. */
export function runningParts(): Runtime | undefined {
  return (globalThis as Registry)[SLOT];
}

/**
 * The running services.
 * @throws Fault service_unavailable before they are up.
 */
export function runtime(): Runtime {
  const running = runningParts();
  if (running === undefined) throw new Fault("service_unavailable", { detail: "Starting.", retry_after: 1 });
  return running;
}
