import type { Dialer } from "#lib/client/socket";

/** How often to read the service clock again, because clocks drift. */
const EVERY_MS = 30_000;
const ID = "clock";
const ASK = JSON.stringify({ id: ID, method: "ping" });

/**
 * A dialer whose connections ask for the service's clock with the stream's ping. `onAhead` gets how far that clock is ahead of this
 * one, in milliseconds: an answer is taken as written in the middle of its round trip, and that of the shortest counts.
 */
export function withServiceClock(dialer: Dialer, onAhead: (aheadMs: number) => void, now = Date.now): Dialer {
  return {
    sendsHeaders: dialer.sendsHeaders,
    dial(url, handshake, { onText, onEnd }) {
      let sentMs: number | undefined;
      let askedMs = Number.NEGATIVE_INFINITY;
      let shortestMs = Number.POSITIVE_INFINITY;
      const socket = dialer.dial(url, handshake, {
        onText(text) {
          const heardMs = now();
          if (sentMs !== undefined && text.includes('"ping"')) {
            const { id, data } = JSON.parse(text) as { id?: unknown; data?: { time_msc?: number } };
            const tookMs = heardMs - sentMs;
            if (id === ID && data?.time_msc !== undefined && tookMs <= shortestMs) {
              shortestMs = tookMs;
              onAhead(data.time_msc - (heardMs - tookMs / 2));
            }
            sentMs = undefined;
          }
          onText(text);
          // The first message is the welcome: from then on the service takes messages.
          if (heardMs - askedMs < EVERY_MS) return;
          askedMs = heardMs;
          sentMs = now();
          socket.send(ASK);
        },
        onEnd,
      });
      return socket;
    },
  };
}
