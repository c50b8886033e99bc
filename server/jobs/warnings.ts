import type { Clock } from "#lib/clock";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { liveAskedMail, type MailMessage, warningMail } from "#lib/mail/messages";
import { type Repeating, startRepeating } from "#lib/repeat";
import { DAY_S, MINUTE_MS } from "#lib/units";
import { takeLiveRequests } from "#server/store/access/accounts";
import type { Database } from "#server/store/database/db";
import { failingChecks, takeWarnings, WARNING_AFTER_MS, type Warning } from "#server/store/market/operator-warnings";
import { queueForOperators } from "#server/store/webhooks/deliveries";

interface WarningsOptions {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Pick<Env, "ALERT_EMAIL" | "BACKUP_MAX_AGE_DAYS">;
  /** Sends an email in the background. */
  readonly send: (message: MailMessage) => void;
  /** Address of the portal, for links in emails. */
  readonly portal: string;
}

/** Tells the webhooks of operators. */
async function queue({ db: { pool }, clock }: WarningsOptions, { name, problem, since, until }: Warning): Promise<void> {
  const id = `warning-${name}-${since.getTime()}`;
  const type = until === null ? "warning.opened" : "warning.resolved";
  const data = { id, check: name, problem, starts_at: since.toISOString(), ends_at: until?.toISOString() ?? null };
  await queueForOperators(pool, `${id}.${type}`, { type, timestamp: new Date(clock.now()).toISOString(), data });
}

/**
 * Warns operators of what is wrong with the installation, and says when it is over, now and then every minute until stopped: by email
 * to ALERT_EMAIL, and to the webhooks of operators. ALERT_EMAIL also hears which accounts ask for live access. Every node may run it; each warning is sent by one, except that the database does
 * not answer: each node that sees it says so once. It does not throw: failures are logged and retried.
 */
export function startWarnings(options: WarningsOptions): Repeating {
  const { db, clock, log, env, send, portal } = options;
  const mail = (warnings: readonly Warning[]) => {
    if (warnings.length > 0) for (const to of env.ALERT_EMAIL) send(warningMail(to, portal, warnings));
  };
  /** When the database stopped answering, and whether an email has said so. */
  let away: { readonly since: Date; told: boolean } | undefined;
  const storeWarning = (since: Date, until: Date | null): Warning => {
    return { name: "store", problem: "the database does not answer", since, until };
  };
  const onError = (error: unknown, failures: number) => {
    if (failures === 1) log.warn({ err: error }, "cannot look for problems to warn of; retrying");
    away ??= { since: new Date(clock.now()), told: false };
    if (away.told || clock.now() - away.since.getTime() < WARNING_AFTER_MS) return;
    away.told = true;
    mail([storeWarning(away.since, null)]);
  };
  return startRepeating({ clock, pause: MINUTE_MS, atOnce: true, onError }, async () => {
    const failing = await failingChecks(db.pool, clock, env.BACKUP_MAX_AGE_DAYS * DAY_S);
    const taken = await takeWarnings(db.pool, clock.now(), failing);
    for (const warning of taken) await queue(options, warning);
    if (away?.told) taken.push(storeWarning(away.since, new Date(clock.now())));
    away = undefined;
    mail(taken);
    const asking = env.ALERT_EMAIL.length === 0 ? [] : await takeLiveRequests(db.pool, clock.now());
    if (asking.length > 0) for (const to of env.ALERT_EMAIL) send(liveAskedMail(to, portal, asking));
  });
}
