import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { MailMessage } from "./messages";
import type { Deliver } from "./transport";

/** Mails in the queue; past it a new one is dropped, with a line in the log. */
const WAITING_MAX_COUNT = 1_000;
/** Waits before each retry of a mail; after the last one it is dropped. */
const RETRY_WAITS_MS = [1_000, 10_000, 60_000] as const;
/** Mails being sent at the same time; the others stay in the queue. */
const SENDING_MAX_COUNT = 4;

/** Sends mails off the path of requests. */
export interface Mailer {
  /** Takes a mail; never waits, never throws. */
  send(message: MailMessage): void;
  /** Stops waiting for retries and resolves when nothing is being sent. */
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
        if (waitMs === undefined || stopping.signal.aborted) return log.error({ subject, reason }, "mail not sent; giving up");
        log.warn({ subject, reason, again_in_ms: waitMs }, "mail server refused a mail; retrying");
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
        return log.error({ subject: message.subject }, "mail dropped: the queue is full or the service is stopping");
      waiting.push(message);
      next();
    },
    async stop() {
      stopping.abort();
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}
