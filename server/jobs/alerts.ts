import type { PoolClient } from "pg";
import type { Clock } from "#lib/clock";
import type { AlertKind } from "#lib/contract/alerts";
import type { AccountEvent, KeyEvent, QuotaEvent } from "#lib/contract/webhooks";
import { monthEndMs, monthOf } from "#lib/domain/month";
import type { Logger } from "#lib/log";
import { keyExpiryMail, keyRefusedMail, type MailMessage, monthMail } from "#lib/mail/messages";
import { type Repeating, startRepeating } from "#lib/repeat";
import { MINUTE_MS } from "#lib/units";
import { type ExpiringKey, type RefusedKey, takeExpiringKeys, takeRefusedKeys } from "#server/store/access/key-alerts";
import type { Database } from "#server/store/database/db";
import { inTransaction } from "#server/store/history/transaction";
import { type MonthWarning, takeMonthWarnings } from "#server/store/usage/months";
import { queueForAccount } from "#server/store/webhooks/deliveries";

interface AlertOptions {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sends an email in the background. */
  readonly send: (message: MailMessage) => void;
  /** Address of the portal, for links in emails. */
  readonly portal: string;
}

/** What one account is told of one kind. */
interface Alert {
  readonly kind: AlertKind;
  readonly account_id: string;
  readonly account: string;
  readonly emails: readonly string[];
  readonly events: readonly AccountEvent[];
  mail(to: string): MailMessage;
}

function ofQuota(warning: MonthWarning, { clock, portal }: AlertOptions): Alert {
  const nowMs = clock.now();
  const { account_id, percent, units: used, month_units: units, month_hard: hard } = warning;
  const month = monthOf(nowMs);
  const resetsAt = new Date(monthEndMs(month));
  const id = `quota-${account_id}-${month}-${percent}`;
  const data = { id, month, percent, used, units, hard, resets_at: resetsAt.toISOString() };
  const event: QuotaEvent = { type: "quota.reached", timestamp: new Date(nowMs).toISOString(), data };
  return { ...warning, kind: "quota", events: [event], mail: (to) => monthMail(to, portal, { ...warning, resetsAt }) };
}

function keyEvent(type: KeyEvent["type"], key: ExpiringKey | RefusedKey, nowMs: number): KeyEvent {
  const { id: key_id, name, prefix, last4 } = key;
  const [expires, refused] = "expires_at" in key ? [key, undefined] : [undefined, key];
  return {
    type,
    timestamp: new Date(nowMs).toISOString(),
    data: {
      id: `${type}-${key_id}-${nowMs}`,
      key_id,
      name,
      prefix,
      last4,
      expires_at: expires?.expires_at.toISOString() ?? null,
      state: refused?.state ?? null,
      refused_at: refused?.refused_at.toISOString() ?? null,
      network: refused?.refused_address ?? null,
    },
  };
}

interface KeyWords<Key> {
  readonly kind: AlertKind;
  readonly type: KeyEvent["type"];
  readonly mail: (to: string, base: string, keys: readonly Key[]) => MailMessage;
}

/** One alert for all keys of an account. */
function ofKeys<Key extends ExpiringKey | RefusedKey>(
  keys: readonly Key[],
  { kind, type, mail }: KeyWords<Key>,
  { clock, portal }: AlertOptions,
): Alert[] {
  const byAccount = new Map<string, Key[]>();
  for (const key of keys) byAccount.set(key.account_id, [...(byAccount.get(key.account_id) ?? []), key]);
  return [...byAccount.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const { account_id, account, emails } = first;
    const events = own.map((key) => keyEvent(type, key, clock.now()));
    return { kind, account_id, account, emails, events, mail: (to: string) => mail(to, portal, own) };
  });
}

const REFUSED: KeyWords<RefusedKey> = { kind: "key_refused", type: "key.refused", mail: keyRefusedMail };
const EXPIRING: KeyWords<ExpiringKey> = { kind: "key_expiring", type: "key.expiring", mail: keyExpiryMail };

/** Takes what is due, and queues it for webhooks: both or neither is stored. */
async function take(client: PoolClient, options: AlertOptions): Promise<Alert[]> {
  const { clock } = options;
  const alerts = [
    ...(await takeMonthWarnings(client, clock)).map((warning) => ofQuota(warning, options)),
    ...ofKeys(await takeRefusedKeys(client, clock), REFUSED, options),
    ...ofKeys(await takeExpiringKeys(client, clock), EXPIRING, options),
  ];
  for (const { account_id: id, kind, events } of alerts)
    for (const event of events) await queueForAccount(client, { id, kind }, event);
  return alerts;
}

/**
 * Alerts accounts of what concerns them: by email to their members, and to their webhooks, as `ALERTS` says and they chose. Looks every minute
 * until stopped. Every node may run it: each alert is sent by one. Alerts that nobody is emailed are logged. It does not throw: failures
 * are logged and retried.
 */
export function startAlerts(options: AlertOptions): Repeating {
  const { db, clock, log, send } = options;
  const onError = (error: unknown, failures: number) => {
    if (failures === 1) log.warn({ err: error }, "cannot alert accounts; retrying");
  };
  return startRepeating({ clock, pause: MINUTE_MS, atOnce: true, onError }, async () => {
    const alerts = await inTransaction(db.pool, (client) => take(client, options));
    for (const { kind, account, emails, events, mail } of alerts) {
      if (emails.length === 0)
        log.warn({ alert: kind, account, about: events.map(({ data }) => data.id) }, "an alert goes to nobody by email");
      for (const email of emails) send(mail(email));
    }
  });
}
