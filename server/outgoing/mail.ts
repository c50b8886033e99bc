import { readFileSync } from "node:fs";
import nodemailer from "nodemailer";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { CapturedMails } from "#lib/mail/captured-mails";
import type { Deliver } from "#lib/mail/mailer";
import { type Repeating, startRepeating } from "#lib/repeat";
import { isTlsProblem } from "#lib/tls-problem";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";

/** Longest silence of a mail server before the delivery fails. */
const SMTP_MAX_MS = 20 * SECOND_MS;
/** A look at a mail server that takes longer is given up. */
const LOOK_MAX_MS = MINUTE_MS;
/** Pause after a look that found it well, and after one that did not. Each look signs in, which a relay may count. */
const LOOK_AGAIN_MS = { well: HOUR_MS, wrong: 5 * MINUTE_MS };
const REASON_MAX_CHARACTERS = 300;

/** A mail server. */
export interface MailServer {
  /** SMTP URL; it may contain a user and a password and is never logged. */
  readonly url: string;
  /** File of the certificates that sign the server's, as PEM; undefined for those of Node. */
  readonly caFile?: string | undefined;
}

function openTransport({ url, caFile }: MailServer) {
  const timeouts = { connectionTimeout: SMTP_MAX_MS, greetingTimeout: SMTP_MAX_MS, socketTimeout: SMTP_MAX_MS };
  // Who names a CA wants TLS: without this, a server that does not offer it would get emails and password in plain text.
  const trust = caFile === undefined ? {} : { requireTLS: true, tls: { ca: readFileSync(caFile, "utf8") } };
  return nodemailer.createTransport({ url, ...timeouts, ...trust });
}

/** Delivers over SMTP. `from` is the sender address. */
export function smtpDelivery(server: MailServer, from: string): Deliver {
  const transport = openTransport(server);
  return async ({ to, subject, text }) => {
    // Passed as an address, not as a header, which would be split at its commas.
    await transport.sendMail({ from, to: { name: "", address: to }, subject, text });
  };
}

/** What to look at for this error of nodemailer; empty where the error says it all. */
function adviceFor(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code === "EAUTH") return " Check the user and the password in SMTP_URL.";
  if (/wrong version number|Greeting never received/i.test(message))
    return " Check the scheme in SMTP_URL: smtps:// is for a port that speaks TLS from the first byte, such as 465, smtp:// for any other.";
  if (code === "ETLS" || isTlsProblem(error) || /certificate/i.test(message))
    return " Check SMTP_CA_FILE, and the certificate of the mail server.";
  return "";
}

interface WatchOptions {
  readonly server: MailServer;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told after each look what is wrong, as a sentence for operators, or null. */
  readonly note: (problem: string | null) => void;
}

/**
 * Looks at a mail server at once and then now and then, until stopped: connects and signs in, and sends nothing. What is wrong is
 * logged once, and again when it changes. It waits for nothing and does not throw: a service starts and serves without its mail server.
 */
export function watchMailServer({ server, clock, log, note }: WatchOptions): Repeating {
  const transport = openTransport(server);
  const { hostname, port } = new URL(server.url);
  const name = port === "" ? hostname : `${hostname}:${port}`;
  let before: string | null = null;
  const pause = () => (before === null ? LOOK_AGAIN_MS.well : LOOK_AGAIN_MS.wrong);

  async function look(stopping: AbortSignal): Promise<string | null> {
    try {
      await withTimeout(transport.verify(), LOOK_MAX_MS, clock, stopping);
      return null;
    } catch (error) {
      const reason = (error as Error).message.replace(/\s+/g, " ").slice(0, REASON_MAX_CHARACTERS);
      return `The mail server at ${name} cannot be used: ${reason.replace(/\.?$/, ".")}${adviceFor(error)}`;
    }
  }
  return startRepeating({ clock, pause, atOnce: true }, async (stopping) => {
    const problem = await look(stopping);
    if (stopping.aborted) return;
    if (problem !== null && problem !== before) log.warn({ reason: problem }, "emails cannot be sent");
    if (problem === null && before !== null) log.info("emails can be sent again");
    before = problem;
    note(problem);
  });
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
