import { createSealer } from "#lib/access/sealer";
import { type Brand, webhookAgentOf } from "#lib/brand";
import type { Clock } from "#lib/clock";
import type { UptimeReport } from "#lib/contract/uptime";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import type { Mailer } from "#lib/mail/mailer";
import { createSend } from "#server/outgoing/webhooks";
import type { Database } from "#server/store/database/db";
import { WEBHOOK_SECRETS } from "#server/store/webhooks/webhooks";
import { startAlerts } from "./alerts";
import { startBackups } from "./backups";
import { startMonths } from "./months";
import { startUpkeep } from "./upkeep";
import { startWarnings } from "./warnings";
import { startWebhooks } from "./webhooks";

interface JobsOptions {
  readonly env: Env;
  readonly brand: Brand;
  readonly db: Database;
  /** PostgreSQL URL; never logged. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The installation's secret. */
  readonly secret: string;
  readonly send: Mailer["send"];
  readonly uptime: () => Promise<UptimeReport>;
  /** Base URL of links in emails. */
  readonly base: string;
  /** Registers what must be stopped. */
  onStop(name: string, stop: () => Promise<void>): void;
}

/**
 * Starts what a node does besides serving: webhooks, alerts of accounts, warnings for operators, months of usage, upkeep of what is
 * stored, and backups. Every node may run them: each piece of work is done by one.
 */
export function startJobs({ env, brand, db, databaseUrl, clock, log, secret, send, uptime, base, onStop }: JobsOptions): void {
  const common = { db, clock, log };
  const sealer = createSealer(secret, WEBHOOK_SECRETS);
  const call = createSend({
    allowedHosts: env.WEBHOOK_ALLOWED_HOSTS,
    ports: env.WEBHOOK_PORTS,
    userAgent: webhookAgentOf(brand),
  });
  onStop("webhooks", startWebhooks({ ...common, uptime, sealer, send: call }).stop);
  onStop("alerts", startAlerts({ ...common, send, portal: base }).stop);
  onStop("warnings", startWarnings({ ...common, env, send, portal: base }).stop);
  onStop("months", startMonths(common).stop);
  onStop("upkeep", startUpkeep({ ...common, env }).stop);
  const backups = startBackups({ ...common, databaseUrl, env, secret });
  if (backups !== undefined) onStop("backups", backups.stop);
}
