import { type ExpiringKey, takeExpiryWarnings } from "#lib/access/key-expiry";
import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import type { Logger } from "#lib/log";
import { keyExpiryMail, type MailMessage } from "#lib/mail/messages";
import { type Repeating, startRepeating } from "#lib/repeat";
import { HOUR_MS } from "#lib/units";

interface WarningOptions {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sends an email in the background. */
  readonly send: (message: MailMessage) => void;
  /** Address of the portal, for links in emails. */
  readonly portal: string;
}

/** Warns the owners of keys that expire soon, in one email each. Keys without an owner to email are logged. */
async function warnOfExpiry({ db, clock, log, send, portal }: WarningOptions): Promise<void> {
  try {
    const byOwner = new Map<string, ExpiringKey[]>();
    for (const key of await takeExpiryWarnings(db.pool, clock)) {
      const { id, account, expires_at, email } = key;
      if (email === null) log.warn({ key: id, account, expires_at }, "a key expires soon");
      else byOwner.set(email, [...(byOwner.get(email) ?? []), key]);
    }
    for (const [email, keys] of byOwner) send(keyExpiryMail(email, portal, keys));
  } catch (error) {
    log.warn({ err: error }, "cannot warn of keys that expire soon; retrying");
  }
}

/**
 * Warns the owners of keys that expire soon, now and then every hour until stopped. Every portal may run it: one at a time sends
 * a warning. It does not throw: failures are logged and retried.
 */
export function startExpiryWarnings(options: WarningOptions): Repeating {
  return startRepeating({ clock: options.clock, pause: HOUR_MS, atOnce: true }, () => warnOfExpiry(options));
}
