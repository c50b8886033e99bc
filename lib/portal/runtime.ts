import type { Access } from "#lib/access/access";
import type { UserContext } from "#lib/access/users/context";
import type { Clock } from "#lib/clock";
import type { UptimeReport } from "#lib/contract/uptime";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { CapturedMails } from "#lib/mail/captured-mails";
import type { CoverageReports } from "#lib/market/coverage-report";
import type { MarketReports } from "#lib/market/reports";
import type { StoredData } from "#lib/market/stored-data";

/** The services of the portal's process, which renders pages and answers the portal's API. The market runs in another. */
export interface PortalRuntime {
  readonly env: Env;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly access: Pick<Access, "refresh" | "mintPortalToken" | "remaining" | "takeFor">;
  /** Signs and encrypts; never logged, never sent. */
  readonly secrets: { readonly nextAuth: string };
  /** User management. */
  readonly users: UserContext;
  /** Mails that are captured because no mail server is configured. */
  readonly capturedMails: CapturedMails;
  /** The markets as pages show them. */
  readonly reports: MarketReports;
  /** Stored history as the pages for operators show it. */
  readonly storedData: StoredData;
  /** What is stored of both venues, as the pages for everybody show it. */
  readonly coverage: CoverageReports;
  /** Uptime, incidents and operators' notes, for the status page. */
  readonly uptime: () => Promise<UptimeReport>;
}

const SLOT = Symbol.for("spotwire.portal");
type Registry = { [SLOT]?: PortalRuntime };

/** Publishes the running services; the portal's process calls it once, tests as they need. */
export function setPortal(running: PortalRuntime | undefined): void {
  if (running === undefined) delete (globalThis as Registry)[SLOT];
  else (globalThis as Registry)[SLOT] = running;
}

/** The running services; undefined while they are not up, as under Next's own development server. */
export function runningPortal(): PortalRuntime | undefined {
  return (globalThis as Registry)[SLOT];
}

/**
 * The running services.
 * @throws Fault service_unavailable before they are up
 */
export function portal(): PortalRuntime {
  const running = runningPortal();
  if (running === undefined) throw new Fault("service_unavailable", { detail: "Starting.", retry_after: 1 });
  return running;
}
