import { createAttempts } from "#lib/access/limits/attempts";
import type { BucketStore } from "#lib/access/limits/bucket-store";
import { createSealer } from "#lib/access/sealer";
import type { SignUpRules } from "#lib/access/sign-up-rules";
import type { Brand } from "#lib/brand";
import type { Clock } from "#lib/clock";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { captureMails } from "#lib/mail/captured-mails";
import { createMailer, type Mailer } from "#lib/mail/mailer";
import { underBrand } from "#lib/mail/messages";
import { logDelivery, smtpDelivery, watchMailServer } from "#server/outgoing/mail";
import { createAuditEvents } from "#server/store/access/audit-events";
import type { Database } from "#server/store/database/db";
import type { UserContext } from "#server/store/users/context";
import { createPasswords } from "#server/store/users/password-hash";
import { createPasswordStrength, type PasswordStrength } from "#server/threads/password-strength";

interface MailsOptions {
  readonly env: Pick<Env, "SMTP_URL" | "SMTP_CA_FILE" | "MAIL_FROM" | "PUBLIC_URL" | "ALERT_EMAIL">;
  readonly brand: Brand;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told what is wrong with the mail server, or null, now and then. */
  readonly noteMailServer: (problem: string | null) => void;
}

/**
 * Opens the way of emails: SMTP_URL, or without it the log. `stop` resolves when none is being sent. `capturedMails` stays empty
 * when mails go to an SMTP server.
 */
export function startMails({ env, brand, clock, log, noteMailServer: note }: MailsOptions) {
  const { SMTP_URL, SMTP_CA_FILE: caFile, MAIL_FROM, PUBLIC_URL, ALERT_EMAIL } = env;
  if (SMTP_URL !== undefined && PUBLIC_URL === undefined)
    log.warn("PUBLIC_URL is not set; links in mails only work on this machine");
  if (SMTP_URL === undefined && ALERT_EMAIL.length > 0) {
    const problem = "ALERT_EMAIL is set, but no mail server is: nobody is emailed of problems. Set SMTP_URL.";
    log.warn(problem);
    note(problem);
  }
  const capturedMails = captureMails();
  const server = SMTP_URL === undefined ? undefined : { url: SMTP_URL, caFile };
  const deliver = server === undefined ? logDelivery(capturedMails, clock, log) : smtpDelivery(server, MAIL_FROM);
  const watch = server && watchMailServer({ server, clock, log, note });
  const mailer = createMailer({ deliver: (message) => deliver(underBrand(message, brand)), clock, log });
  const stop = async () => {
    await Promise.all([mailer.stop(), watch?.stop()]);
  };
  return { send: mailer.send, stop, capturedMails };
}

interface UsersOptions extends Pick<MailsOptions, "clock" | "log"> {
  readonly env: SignUpRules;
  readonly db: Database;
  readonly brand: Brand;
  /** The installation's secret. */
  readonly secret: string;
  readonly send: Mailer["send"];
  /** Buckets shared by all nodes; in memory by default. */
  readonly buckets?: BucketStore;
  /** By default in a thread of its own. */
  readonly strength?: PasswordStrength;
}

/** User management of the portal. */
interface Users {
  readonly users: UserContext;
  /** Resolves when no thread runs. */
  stop(): Promise<void>;
}

/** Starts the services behind sign-up and sign-in. */
export function startUsers(options: UsersOptions): Users {
  const { env, db, clock, log, brand, secret, send, buckets, strength = createPasswordStrength(clock) } = options;
  const attempts = createAttempts(clock, buckets);
  const events = createAuditEvents({ db, clock, attempts, log });
  const sealer = createSealer(secret, "second factors");
  return {
    users: { rules: env, db, clock, brand, passwords: createPasswords(), strength, attempts, events, sealer, send },
    stop: strength.close,
  };
}
