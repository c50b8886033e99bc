import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { MailMessage } from "./messages";
import type { Deliver } from "./transport";

/** Mails that wait to be sent; past it a further one is dropped, with a line in the log. */
const WAITING_MAX_COUNT = 1_000;
/** Waits before a mail that could not be sent is tried again; after the last it is given up. */
const RETRY_WAITS_MS = [1_000, 10_000, 60_000] as const;
/** Mails that are tried again at the same time, while others go on being sent. */
const SENDING_MAX_COUNT = 4;

/** Sends mails off the path of requests. */
export interface Mailer {
  /** Takes a mail; never waits, never throws. */
  send(message: MailMessage): void;
  /** Gives up waiting for another try and resolves when nothing is being sent any more. */
  stop(): Promise<void>;
}

interface MailerOptions {
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes a mailer; `deliver` takes a mail to its server. The log names the subject of a mail that was lost, never its text. */
export function createMailer({ deliver, clock, log }: MailerOptions): Mailer {
  const waiting: MailMessage[] = [];
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function attempt(message: MailMessage): Promise<void> {
    const { subject } = message;
    for (const waitMs of [...RETRY_WAITS_MS, undefined]) {
      try {
        return await deliver(message);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (waitMs === undefined || stopping.signal.aborted) return log.error({ subject, reason }, "a mail could not be sent");
        log.warn({ subject, reason, again_in_ms: waitMs }, "a mail was not taken; it is tried again");
        await clock.wait(waitMs, stopping.signal);
      }
    }
  }

  function next(): void {
    const message = sending.size < SENDING_MAX_COUNT ? waiting.shift() : undefined;
    if (message === undefined) return;
    const sent = attempt(message).finally(() => {
      sending.delete(sent);
      next();
    });
    sending.add(sent);
  }

  return {
    send(message) {
      if (stopping.signal.aborted || waiting.length >= WAITING_MAX_COUNT)
        return log.error({ subject: message.subject }, "a mail was dropped: too many wait to be sent, or the service stops");
      waiting.push(message);
      next();
    },
    async stop() {
      stopping.abort();
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}
