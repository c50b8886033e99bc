import { createAuditEvents } from "#lib/access/audit-events";
import { createAttempts } from "#lib/access/limits/attempts";
import type { BucketStore } from "#lib/access/limits/bucket-store";
import { createSealer } from "#lib/access/sealer";
import type { UserContext } from "#lib/access/users/context";
import { createPasswords } from "#lib/access/users/password-hash";
import { createPasswordStrength, type PasswordStrength } from "#lib/access/users/password-strength";
import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { type CapturedMails, captureMails } from "#lib/mail/captured-mails";
import { createMailer } from "#lib/mail/mailer";
import { logDelivery, smtpDelivery } from "#lib/mail/transport";

interface UsersOptions {
  readonly env: Pick<Env, "SMTP_URL" | "MAIL_FROM" | "PUBLIC_URL">;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** The installation's secret. */
  readonly secret: string;
  /** Buckets shared by all nodes; in memory by default. */
  readonly buckets?: BucketStore;
  /** By default in a thread of its own. */
  readonly strength?: PasswordStrength;
}

/** User management of the portal. */
interface Users {
  readonly users: UserContext;
  /** Empty when mails go to an SMTP server. */
  readonly capturedMails: CapturedMails;
  /** Resolves when no mail is being sent and no thread runs. */
  stop(): Promise<void>;
}

/** Starts the services behind sign-up, sign-in and their mails. */
export function startUsers(options: UsersOptions): Users {
  const { env, db, clock, log, secret, buckets, strength = createPasswordStrength(clock) } = options;
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL } = env;
  if (SMTP_URL !== undefined && PUBLIC_URL === undefined)
    log.warn("PUBLIC_URL is not set; links in mails only work on this machine");
  const capturedMails = captureMails();
  const deliver = SMTP_URL === undefined ? logDelivery(capturedMails, clock, log) : smtpDelivery(SMTP_URL, MAIL_FROM);
  const mailer = createMailer({ deliver, clock, log });
  const attempts = createAttempts(clock, buckets);
  const events = createAuditEvents({ db, clock, attempts, log });
  const sealer = createSealer(secret, "second factors");
  const users = { db, clock, passwords: createPasswords(), strength, attempts, events, sealer, send: mailer.send };
  return {
    users,
    capturedMails,
    async stop() {
      await Promise.all([mailer.stop(), strength.close()]);
    },
  };
}
