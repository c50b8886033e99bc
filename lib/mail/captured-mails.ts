import type { MailMessage } from "./messages";

/** Mails kept for reading; an older one is forgotten. */
const OUTBOX_MAX_COUNT = 50;

/** A mail as the outbox page shows it. */
interface OutboxMail extends MailMessage {
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** The latest mails of this process, where no mail server is set. */
export interface CapturedMails {
  /** Newest first. */
  list(): readonly OutboxMail[];
  add(mail: OutboxMail): void;
}

/** Keeps the latest mails in memory. */
export function captureMails(): CapturedMails {
  let mails: readonly OutboxMail[] = [];
  return {
    list: () => mails,
    add(mail) {
      mails = [mail, ...mails].slice(0, OUTBOX_MAX_COUNT);
    },
  };
}
