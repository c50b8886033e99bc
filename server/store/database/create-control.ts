import type { Clock } from "#lib/clock";
import { type Control, type ControlChannel, type ControlMessage, type DatabaseChannel, SEND_MAX_MS } from "#lib/control";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";
import { listenOn } from "./listener";

const RETRY: Backoff = { firstMs: 100, longestMs: 1_000 };
/** Messages kept for a retry; past it one `everything` replaces them all. */
const PENDING_MAX_COUNT = 100;

interface ControlOptions {
  /** Carries what transactions change. */
  readonly database: DatabaseChannel;
  /** Carries everything else: Redis, where several nodes share one, or the database. */
  readonly channel: ControlChannel;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes the control of one process over the channels of its installation. */
export function createControl({ database, channel, clock, log }: ControlOptions): Control {
  const closing = new AbortController();
  let pending: ControlMessage[] = [];
  let retrying = false;

  const send = (message: ControlMessage) =>
    withTimeout(channel.send(JSON.stringify(message)), SEND_MAX_MS, clock, closing.signal);

  async function retry(): Promise<void> {
    retrying = true;
    let done = false;
    const options = { clock, signal: closing.signal, pause: RETRY, until: () => done, onError: () => undefined };
    await repeat(options, async () => {
      for (let next = pending[0]; next !== undefined && !closing.signal.aborted; next = pending[0]) {
        await send(next);
        // While it was sent, more may have arrived and `everything` replaced it.
        if (pending[0] === next) pending.shift();
      }
      done = true;
      retrying = false;
      if (!closing.signal.aborted) log.info("pending control messages sent");
    });
  }

  function sendLater(message: ControlMessage): void {
    pending = pending.length < PENDING_MAX_COUNT ? [...pending, message] : [{ kind: "everything" }];
    if (!retrying) void retry();
  }

  async function publish(message: ControlMessage): Promise<void> {
    // Pending messages go first, to keep the order.
    if (pending.length > 0) return sendLater(message);
    try {
      await send(message);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason, kind: message.kind }, "control message not sent; retrying");
      sendLater(message);
    }
  }

  return {
    publish,
    async publishWith(transaction, messages) {
      for (const message of messages) await database.sendWith(transaction, JSON.stringify(message));
    },
    async listen(onMessage) {
      const channels = [...new Set([database, channel])];
      const listeners = await Promise.all(channels.map((one) => listenOn({ channel: one, onMessage, clock, log })));
      return {
        connected: () => listeners.every((listener) => listener.connected()),
        stop: async () => void (await Promise.all(listeners.map((listener) => listener.stop()))),
      };
    },
    pending: () => pending.length,
    close: () => closing.abort(),
  };
}
