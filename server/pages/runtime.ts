import type { Access } from "#lib/access/access";
import type { Brand } from "#lib/brand";
import type { Clock } from "#lib/clock";
import type { ClientDocument } from "#lib/contract/oauth";
import type { FeedCheckForm, FeedFinding } from "#lib/contract/portal-feeds";
import type { UptimeReport } from "#lib/contract/uptime";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { CapturedMails } from "#lib/mail/captured-mails";
import type { MarketReports } from "#lib/market/reports";
import type { CoverageReports } from "#server/store/data/coverage-report";
import type { StoredData } from "#server/store/data/stored-data";
import type { Database } from "#server/store/database/db";
import type { UserContext } from "#server/store/users/context";
import type { Uploads } from "./uploads";

/** The services of the portal's process, which renders pages and answers the portal's API. The market runs in another. */
export interface PortalRuntime {
  readonly env: Env;
  readonly brand: Brand;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly access: Pick<Access, "verify" | "refresh" | "mintPortalToken" | "remaining" | "takeForPage">;
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
  /** Files that operators import in the browser. */
  readonly uploads: Pick<Uploads, "report" | "begin" | "add" | "run" | "end">;
  /** Reads the document that an agent's client ID names. @throws Fault invalid_parameter that says what is wrong with it */
  readonly readClient: (id: string) => Promise<ClientDocument>;
  /** Tries a provider with settings that an operator typed. @throws Fault invalid_parameter, conflict */
  readonly checkFeed: (form: FeedCheckForm, signal: AbortSignal) => Promise<readonly FeedFinding[]>;
  /** Calls the REST API of the market process. A refusal is a response too. */
  readonly callMarket: (request: Request) => Promise<Response>;
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
