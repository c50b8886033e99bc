import { createAttempts } from "#lib/access/limits/attempts";
import type { BucketStore } from "#lib/access/limits/bucket-store";
import type { UserContext } from "#lib/access/users/context";
import { createPasswords } from "#lib/access/users/password-hash";
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
  /** The buckets of all nodes; in memory unless given. */
  readonly buckets?: BucketStore;
}

/** What the portal's users are managed with, running. */
interface Users {
  readonly users: UserContext;
  /** Empty where mails go to a server. */
  readonly capturedMails: CapturedMails;
  /** Resolves when no mail is being sent any more. */
  stop(): Promise<void>;
}

/** Starts what sign-up, sign-in and their mails need. */
export function startUsers({ env, db, clock, log, buckets }: UsersOptions): Users {
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL } = env;
  if (SMTP_URL !== undefined && PUBLIC_URL === undefined)
    log.warn("SMTP_URL is set and PUBLIC_URL is not: links in mails lead to this machine alone");
  const capturedMails = captureMails();
  const deliver = SMTP_URL === undefined ? logDelivery(capturedMails, clock, log) : smtpDelivery(SMTP_URL, MAIL_FROM);
  const mailer = createMailer({ deliver, clock, log });
  const users = { db, clock, passwords: createPasswords(), attempts: createAttempts(clock, buckets), send: mailer.send };
  return { users, capturedMails, stop: mailer.stop };
}
