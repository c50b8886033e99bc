import nodemailer from "nodemailer";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { CapturedMails } from "./captured-mails";
import type { MailMessage } from "./messages";

/** Longest silence of a mail server before the delivery fails. */
const SMTP_MAX_MS = 20_000;

/** Delivers a mail. Rejects when the server does not accept it. */
export type Deliver = (message: MailMessage) => Promise<void>;

/** Delivers over SMTP; the URL may hold a user and a password and is never logged. `from` is the address mails come from. */
export function smtpDelivery(url: string, from: string): Deliver {
  const timeouts = { connectionTimeout: SMTP_MAX_MS, greetingTimeout: SMTP_MAX_MS, socketTimeout: SMTP_MAX_MS };
  const transport = nodemailer.createTransport({ url, ...timeouts });
  return async ({ to, subject, text }) => {
    // As an address, never as a header: a list of several would be split at its commas.
    await transport.sendMail({ from, to: { name: "", address: to }, subject, text });
  };
}

/** Without a mail server: writes mails to the log, links and all, and keeps the latest. */
export function logDelivery(outbox: CapturedMails, clock: Clock, log: Logger): Deliver {
  return async (message) => {
    outbox.add({ ...message, atMs: clock.now() });
    log.info({ mail: message }, "mail not sent: SMTP_URL is not set");
  };
}
