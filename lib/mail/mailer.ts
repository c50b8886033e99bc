import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Mail, MailMessage } from "./messages";

/** Maximum number of emails in the queue; a further one is dropped with a log line. */
const WAITING_MAX_COUNT = 1_000;
/** Wait before each retry of an email; after the last one it is dropped. */
const RETRY_WAITS_MS = [1_000, 10_000, 60_000] as const;
/** Maximum number of emails sent at the same time; the others stay in the queue. */
const SENDING_MAX_COUNT = 4;

/** Delivers an email. Rejects when the server does not accept it. */
export type Deliver = (message: MailMessage) => Promise<void>;

/** Sends emails in the background. */
export interface Mailer {
  /** Queues an email; never waits, never throws. */
  send(mail: Mail): void;
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
  const waiting: Mail[] = [];
  const sending = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function attempt(mail: Mail): Promise<void> {
    let message: MailMessage | undefined;
    // The request that asked for it is answered first: how long composing takes must not show.
    if (typeof mail === "function") await nextTurn();
    for (const waitMs of [...RETRY_WAITS_MS, undefined]) {
      try {
        message ??= typeof mail === "function" ? await mail() : mail;
        return await deliver(message);
      } catch (error) {
        const { subject } = message ?? { subject: null };
        const reason = error instanceof Error ? error.message : String(error);
        if (waitMs === undefined || stopping.signal.aborted) return log.error({ subject, reason }, "email not sent; giving up");
        log.warn({ subject, reason, again_in_ms: waitMs }, "mail server rejected an email; retrying");
        await clock.wait(waitMs, stopping.signal);
      }
    }
  }

  function next(): void {
    const mail = sending.size < SENDING_MAX_COUNT ? waiting.shift() : undefined;
    if (mail === undefined) return;
    const sent = attempt(mail).finally(() => {
      sending.delete(sent);
      next();
    });
    sending.add(sent);
  }

  return {
    send(mail) {
      if (stopping.signal.aborted || waiting.length >= WAITING_MAX_COUNT) {
        const subject = typeof mail === "function" ? null : mail.subject;
        return log.error({ subject }, "email dropped: the queue is full or the service is stopping");
      }
      waiting.push(mail);
      next();
    },
    async stop() {
      stopping.abort();
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}
