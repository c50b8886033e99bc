import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { withTimeout } from "#lib/with-timeout";
import { type ControlChannel, type ControlLine, type ControlListener, ControlMessage } from "./control";

/**
 * A connection that does not answer is taken for lost after interval and timeout together: a revocation that it would have
 * told is late by no more than that.
 */
const PING_INTERVAL_MS = 250;
const PING_TIMEOUT_MS = 700;
const RETRY_FIRST_MS = 100;
const RETRY_LONGEST_MS = 2_000;

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
    // A newer release may say what this one does not know.
    log.warn({ payload: text }, "a control message was not understood");
    return undefined;
  }
}

/**
 * Listens on one line until it is lost or the signal aborts; `onChange` tells when it hears and when no more.
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
    line = await channel.open(onText, (reason) => lost.abort(reason), signal);
    over.throwIfAborted();
    onChange(true);
    for (;;) {
      await clock.wait(PING_INTERVAL_MS, over);
      over.throwIfAborted();
      // A peer that vanished without a word is noticed by asking.
      await withTimeout(line.ping(), PING_TIMEOUT_MS, clock, over);
    }
  } finally {
    // What this line still says of itself is not about the next one.
    lost.signal.removeEventListener("abort", onDisconnected);
    onDisconnected();
    await line?.close();
  }
}

/** Wait before an attempt, cut by up to half at random: nodes that lost the channel together do not come back together. */
function retryMs(failures: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_LONGEST_MS) * (1 - Math.random() / 2);
}

/** Follows a channel as `Control.listen` promises. */
export async function listenOn(options: ListenerOptions): Promise<ControlListener> {
  const { onMessage, clock, log } = options;
  const stopping = new AbortController();
  let connected = false;
  let failures = 0;
  let again = false;
  const onChange = (listening: boolean): void => {
    connected = listening;
    if (!listening) return;
    if (again) {
      log.info("control channel is back");
      onMessage({ kind: "everything" });
    }
    failures = 0;
    tried();
  };
  let tried = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    tried = resolve;
  });

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, stopping.signal, onChange);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (failures === 0 && !stopping.signal.aborted) log.warn({ reason }, "control channel lost; opening it again");
      }
      again = true;
      tried();
      await clock.wait(retryMs(failures), stopping.signal);
      failures += 1;
    }
  }

  const running = run();
  await first;
  return {
    connected: () => connected,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
