import nodemailer from "nodemailer";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { CapturedMails } from "#lib/mail/captured-mails";
import type { Deliver } from "#lib/mail/mailer";

/** Longest silence of a mail server before the delivery fails. */
const SMTP_MAX_MS = 20_000;

/** Delivers over SMTP; the URL may contain a user and a password and is never logged. `from` is the sender address. */
export function smtpDelivery(url: string, from: string): Deliver {
  const timeouts = { connectionTimeout: SMTP_MAX_MS, greetingTimeout: SMTP_MAX_MS, socketTimeout: SMTP_MAX_MS };
  const transport = nodemailer.createTransport({ url, ...timeouts });
  return async ({ to, subject, text }) => {
    // Passed as an address, not as a header, which would be split at its commas.
    await transport.sendMail({ from, to: { name: "", address: to }, subject, text });
  };
}

/** The first link of an email. In the text it is followed by an escaped line break, which terminals take as part of it. */
const LINK = /https?:\/\/\S+/;

/** Replaces a mail server: writes emails to the log, including their links, and keeps the latest. */
export function logDelivery(outbox: CapturedMails, clock: Clock, log: Logger): Deliver {
  return async (message) => {
    outbox.add({ ...message, atMs: clock.now() });
    log.info({ mail: message, link: LINK.exec(message.text)?.[0] }, "email not sent: SMTP_URL is not set");
  };
}
