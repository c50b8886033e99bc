import type { Clock } from "#lib/clock";
import { type Control, type ControlChannel, type ControlMessage, SEND_MAX_MS } from "#lib/control";
import type { Logger } from "#lib/log";
import { listenOn } from "./control-listener";
import { within } from "./within";

const RETRY_FIRST_MS = 100;
const RETRY_LONGEST_MS = 1_000;
/** Messages kept for later; past it `everything` says what they said, and more. */
const UNTOLD_MAX_COUNT = 100;

interface ControlOptions {
  readonly channel: ControlChannel;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes the control of one process over the channel of its installation. */
export function createControl({ channel, clock, log }: ControlOptions): Control {
  const closing = new AbortController();
  let untold: ControlMessage[] = [];
  let retrying = false;

  const send = (message: ControlMessage) => within(channel.send(JSON.stringify(message)), SEND_MAX_MS, clock, closing.signal);

  async function sendUntold(): Promise<void> {
    for (let next = untold[0]; next !== undefined && !closing.signal.aborted; next = untold[0]) {
      await send(next);
      // While it was sent, more may have come and `everything` taken its place.
      if (untold[0] === next) untold.shift();
    }
  }

  async function retry(): Promise<void> {
    retrying = true;
    for (let failures = 0; untold.length > 0 && !closing.signal.aborted; failures += 1) {
      await clock.wait(Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS), closing.signal);
      await sendUntold().catch(() => undefined);
    }
    retrying = false;
    if (untold.length === 0) log.info("control messages that had to wait are told");
  }

  function tellLater(message: ControlMessage): void {
    untold = untold.length < UNTOLD_MAX_COUNT ? [...untold, message] : [{ kind: "everything" }];
    if (!retrying) void retry();
  }

  return {
    async publish(message) {
      // What waits goes first: order is kept.
      if (untold.length > 0) return tellLater(message);
      try {
        await send(message);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason, kind: message.kind }, "a change could not be told to the running nodes yet; trying again");
        tellLater(message);
      }
    },
    listen: (onMessage) => listenOn({ channel, onMessage, clock, log }),
    untold: () => untold.length,
    close: () => closing.abort(),
  };
}
