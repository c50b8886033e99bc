import type { Access } from "#lib/access/access";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Market } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import type { Usage } from "./access/usage/usage";
import type { UserContext } from "./access/users/context";
import type { CapturedMails } from "./mail/captured-mails";

/**
 * What runs in this process. The server and Next's bundle hold separate copies of every module, so whatever is
 * process-wide is reached through this one registry on globalThis, never through a module's own state.
 */
export interface Runtime {
  readonly env: Env;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly usage: Usage;
  /** What signs and encrypts; never logged, never sent. */
  readonly secrets: { readonly nextAuth: string };
  /** What the portal's users are managed with. */
  readonly users: UserContext;
  /** Mails that no server was set for. */
  readonly capturedMails: CapturedMails;
  readonly markets: Readonly<Record<Venue, Market>>;
  /** True from the first moment of a shutdown: new requests are answered 50302. */
  draining(): boolean;
  ready(): Promise<Readiness>;
}

/** How the parts of this process are. */
export interface Readiness {
  /** By name: null when well, else what is wrong. */
  readonly checks: Readonly<Record<string, string | null>>;
  /** Whether requests should be sent here all the same. */
  readonly serving: boolean;
}

const SLOT = Symbol.for("spotwire.runtime");
type Registry = { [SLOT]?: Runtime };

/** Publishes the running parts; the composition root calls it once, tests as they like. */
export function setRuntime(runtime: Runtime | undefined): void {
  if (runtime === undefined) delete (globalThis as Registry)[SLOT];
  else (globalThis as Registry)[SLOT] = runtime;
}

/** The running parts; undefined while they are not up, as under Next's own development server. */
export function runningParts(): Runtime | undefined {
  return (globalThis as Registry)[SLOT];
}

/**
 * The running parts.
 * @throws Fault service_unavailable before they are up.
 */
export function runtime(): Runtime {
  const running = runningParts();
  if (running === undefined) throw new Fault("service_unavailable", { detail: "Starting.", retry_after: 1 });
  return running;
}
