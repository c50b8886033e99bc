import type { MailMessage } from "./messages";

/** Maximum number of emails kept; older ones are dropped. */
const OUTBOX_MAX_COUNT = 50;

/** An email on the outbox page. */
interface OutboxMail extends MailMessage {
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** The latest emails of this process, when no mail server is configured. */
export interface CapturedMails {
  /** Newest first. */
  list(): readonly OutboxMail[];
  add(mail: OutboxMail): void;
}

/** Keeps the latest emails in memory. */
export function captureMails(): CapturedMails {
  let mails: readonly OutboxMail[] = [];
  return {
    list: () => mails,
    add(mail) {
      mails = [mail, ...mails].slice(0, OUTBOX_MAX_COUNT);
    },
  };
}
