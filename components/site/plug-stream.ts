import { createClient } from "#lib/client/client";
import { ABNORMAL_CLOSE, type Dialer, type Socket, type SocketEnd, webSocketDialer } from "#lib/client/socket";
import type { QuoteMessage } from "#lib/contract/stream";
import { fetchAs } from "../board/market-stream";
import { createBearers } from "../portal/bearers";
import { PAGE_CREDENTIAL } from "../portal/credential";
import { plainText } from "../portal/plain-text";

/** Records of several tickers come in any order, as close together as this. */
const DISORDER_MS = 500;
const CUT: SocketEnd = { code: ABNORMAL_CLOSE, reason: "" };

/** A bid that arrived, and whether it was sent while this client had no connection. */
export interface Point {
  readonly atMs: number;
  readonly bid: number;
  readonly missed: boolean;
}

/** What became of the records that were sent while the plug was out. */
export interface Outcome {
  /** Records that the service sent during that time. */
  readonly sent: number;
  /** Those of them that did not arrive; null where the service says that it no longer knows. */
  readonly lost: number | null;
  /** How long there was no connection. */
  readonly awayMs: number;
}

/** What a stream with a plug reports. */
interface PlugEvents {
  /** A bid of the first ticker. */
  onPoint(point: Point): void;
  /** The client has a connection, or has none. */
  onConnected(connected: boolean): void;
  onOutcome(outcome: Outcome): void;
  /** No connection can be had at the moment, or ever. */
  onRefused(detail: string): void;
}

/** A stream whose connection can be taken away. */
export interface PlugStream {
  /** Ends the connection, and lets no other one begin. */
  pull(): void;
  plugIn(): void;
  close(): void;
}

/** A dialer whose sockets end when the plug is pulled, as when a cable is, and begin no earlier than when it is in. */
function pluggable(inner: Dialer) {
  let isIn = true;
  /** Ends the socket of now. */
  let cut = () => undefined as undefined;
  let begin: (() => void) | undefined;
  const dialer: Dialer = {
    // Without `binary`, records are JSON.
    sendsHeaders: inner.sendsHeaders,
    dial(url, handshake, { onText, onEnd }) {
      let socket: Socket | undefined;
      let isOver = false;
      const end = (how: SocketEnd) => {
        if (!isOver) onEnd(how);
        isOver = true;
      };
      const dial = () => {
        begin = undefined;
        socket = inner.dial(url, handshake, { onText: (text) => !isOver && onText(text), onEnd: end });
      };
      const stop = () => {
        if (begin === dial) begin = undefined;
        if (socket === undefined) end(CUT);
        else socket.close();
      };
      cut = () => {
        socket?.drop();
        end(CUT);
      };
      begin = dial;
      if (isIn) dial();
      return { send: (text) => socket?.send(text), close: stop, drop: stop };
    },
  };
  return {
    dialer,
    pull() {
      isIn = false;
      cut();
    },
    plugIn() {
      isIn = true;
      begin?.();
    },
  };
}

/**
 * Follows the quotes of some tickers with the client that everybody gets, over a connection that can be pulled. After a resume it counts
 * what the service sent while it was away, by the sequence of the records, and what did not arrive.
 */
export function openPlugStream(tickers: readonly string[], events: PlugEvents): PlugStream {
  const plug = pluggable(webSocketDialer(WebSocket));
  const client = createClient({
    baseUrl: location.origin,
    fetch: fetchAs(createBearers(), PAGE_CREDENTIAL),
    ticket: async () => (await client.createStreamTicket()).ticket,
    dialer: plug.dialer,
  });
  /** When the plug was pulled; undefined while nothing is missing. */
  let pulledMs: number | undefined;
  /** The service's clock when the client was back. */
  let backMs = Number.POSITIVE_INFINITY;
  let backAtMs = 0;
  let counted: Pick<Outcome, "sent" | "lost"> = { sent: 0, lost: 0 };

  function finish(): void {
    if (pulledMs === undefined) return;
    events.onOutcome({ ...counted, awayMs: backAtMs - pulledMs });
    pulledMs = undefined;
  }

  function onRecord({ event, ticker, data, merged = 0 }: QuoteMessage): void {
    // A record of after the return: everything of before has come, or will not.
    if (pulledMs !== undefined && data.time_msc > backMs + DISORDER_MS) finish();
    const missed = pulledMs !== undefined && data.time_msc <= backMs && event === "update";
    if (missed) counted = { sent: counted.sent + 1 + merged, lost: counted.lost === null ? null : counted.lost + merged };
    if (ticker === tickers[0]) events.onPoint({ atMs: data.time_msc, bid: data.bid, missed });
  }

  const stream = client.stream({
    onOpen({ time_msc }) {
      backMs = time_msc;
      backAtMs = Date.now();
      events.onConnected(true);
    },
    onGap({ expected, received }) {
      const lost = expected === null ? null : received - expected;
      counted =
        lost === null || counted.lost === null
          ? { ...counted, lost: null }
          : { sent: counted.sent + lost, lost: counted.lost + lost };
    },
    onClose: () => events.onConnected(false),
    onStateChange({ state, error }) {
      if (error?.status === undefined) return;
      if (state === "closed") events.onRefused(plainText(error.detail));
      if (state === "waiting")
        events.onRefused(`${plainText(error.detail)} Close another page that streams; this one connects by itself.`);
    },
    onError: () => undefined,
  });
  stream.subscribe({ stream: "quote", tickers }, onRecord).ready.catch(() => undefined);
  return {
    pull() {
      pulledMs = Date.now();
      backMs = Number.POSITIVE_INFINITY;
      counted = { sent: 0, lost: 0 };
      plug.pull();
    },
    plugIn: plug.plugIn,
    close: () => stream.close(),
  };
}
