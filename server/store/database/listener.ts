import type { Clock } from "#lib/clock";
import { type ControlChannel, type ControlLine, type ControlListener, ControlMessage } from "#lib/control";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";

/**
 * A connection that does not answer counts as lost after interval and timeout together. A revocation sent over it is late by at
 * most that.
 */
const PING_INTERVAL_MS = 250;
const PING_TIMEOUT_MS = 700;
const RETRY: Backoff = { firstMs: 100, longestMs: 2_000 };

interface ListenerOptions {
  channel: ControlChannel;
  /** Called for each message in order; must not throw. */
  onMessage: (message: ControlMessage) => void;
  clock: Clock;
  log: Logger;
}

function parse(text: string, log: Logger): ControlMessage | undefined {
  try {
    return ControlMessage.parse(JSON.parse(text));
  } catch {
    // A newer release may send kinds that this one does not know.
    log.warn({ payload: text }, "unknown control message; ignoring it");
    return undefined;
  }
}

/**
 * Listens on one line until it is lost or the signal aborts; `onChange` reports when it starts and stops listening.
 * @throws the reason why the line could not be opened or was lost
 */
async function listenOnce(
  { channel, onMessage, clock, log }: ListenerOptions,
  signal: AbortSignal,
  onChange: (listening: boolean) => void,
): Promise<void> {
  const lost = new AbortController();
  const over = AbortSignal.any([signal, lost.signal]);
  const onDisconnected = () => onChange(false);
  lost.signal.addEventListener("abort", onDisconnected);
  const onText = (text: string) => {
    const message = parse(text, log);
    if (message !== undefined) onMessage(message);
  };
  let line: ControlLine | undefined;
  try {
    const opened = await channel.open(onText, (reason) => lost.abort(reason), signal);
    line = opened;
    over.throwIfAborted();
    onChange(true);
    // Only a ping reveals a peer that vanished without closing.
    await repeat({ clock, signal: over, pause: PING_INTERVAL_MS }, () =>
      withTimeout(opened.ping(), PING_TIMEOUT_MS, clock, over),
    );
    over.throwIfAborted();
  } finally {
    // Events of this line must not be mistaken for events of the next one.
    lost.signal.removeEventListener("abort", onDisconnected);
    onDisconnected();
    await line?.close();
  }
}

/** Follows a channel as `Control.listen` promises. */
export async function listenOn(options: ListenerOptions): Promise<ControlListener> {
  const { onMessage, clock, log } = options;
  const stopping = new AbortController();
  let connected = false;
  let again = false;
  let tried = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    tried = resolve;
  });

  async function listen(healthy: () => void): Promise<void> {
    try {
      await listenOnce(options, stopping.signal, (listening) => {
        connected = listening;
        if (!listening) return;
        if (again) {
          log.info("control channel is back");
          onMessage({ kind: "everything" });
        }
        healthy();
        tried();
      });
    } finally {
      again = true;
      tried();
    }
  }

  const onError = (error: unknown, failures: number) => {
    const reason = error instanceof Error ? error.message : String(error);
    if (failures === 1) log.warn({ reason }, "control channel lost; reconnecting");
  };
  const running = repeat({ clock, signal: stopping.signal, pause: RETRY, atOnce: true, onError }, listen);
  await first;
  return {
    connected: () => connected,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
