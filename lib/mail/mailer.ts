import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { MailMessage } from "./messages";
import type { Deliver } from "./transport";

/** Most emails in the queue; a further one is dropped with a log line. */
const WAITING_MAX_COUNT = 1_000;
/** Wait before each retry of an email; after the last one it is dropped. */
const RETRY_WAITS_MS = [1_000, 10_000, 60_000] as const;
/** Most emails sent at the same time; the others stay in the queue. */
const SENDING_MAX_COUNT = 4;

/** Sends emails in the background. */
export interface Mailer {
  /** Queues an email; never waits, never throws. */
  send(message: MailMessage): void;
  /** Stops waiting for retries and resolves when nothing is being sent. */
  stop(): Promise<void>;
}

interface MailerOptions {
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes a mailer; `deliver` sends an email to its server. The log has the subject of a lost email, never its text. */
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
        if (waitMs === undefined || stopping.signal.aborted) return log.error({ subject, reason }, "email not sent; giving up");
        log.warn({ subject, reason, again_in_ms: waitMs }, "mail server rejected an email; retrying");
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
        return log.error({ subject: message.subject }, "email dropped: the queue is full or the service is stopping");
      waiting.push(message);
      next();
    },
    async stop() {
      stopping.abort();
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}
