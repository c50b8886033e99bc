import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../feed";
import { retryAfterMs } from "./http";
import type { Link } from "./port";

const HANDSHAKE_MAX_MS = 15 * SECOND_MS;
/** The longest message; a larger one ends the connection. */
const MESSAGE_MAX_BYTES = 1_048_576;
/** Messages that wait to be read, and their size; beyond them the socket is paused, so that the far side holds the rest. */
const WAITING_MAX_COUNT = 1_000;
const WAITING_MAX_CHARACTERS = 1_048_576;
/** Close codes of a policy, which another try does not mend (RFC 6455, 7.4.1). */
const POLICY_CLOSE_CODE = 1008;
/** 407 Proxy Authentication Required. */
const PROXY_REFUSES = 407;

function refusedBy(name: string, { statusCode = 0, headers }: IncomingMessage, nowMs: number): Error {
  const said = `${name} answered ${statusCode} to the connection`;
  if (statusCode === PROXY_REFUSES)
    return new Refused("the proxy refuses us (407). Check HTTPS_PROXY: its URL may need a user name and a password.");
  if (statusCode === 401 || statusCode === 403) return new Refused(`${said}. Check its key.`);
  return new Upset(said, { retryAfterMs: retryAfterMs(headers["retry-after"] ?? null, nowMs) });
}

/** The messages of a WebSocket as they come. It ends by a throw, and reads no further than a bounded queue. */
export function openSocket(url: string, name: string, link: Pick<Link, "signal" | "clock" | "alive">) {
  const socket = new WebSocket(url, {
    maxPayload: MESSAGE_MAX_BYTES,
    handshakeTimeout: HANDSHAKE_MAX_MS,
    perMessageDeflate: false,
  });
  const waiting: string[] = [];
  let waitingCharacters = 0;
  const over = new AbortController();
  let ended: unknown;
  let wake: () => void = () => undefined;
  let [open, fail]: [() => void, (reason: unknown) => void] = [() => undefined, () => undefined];
  const opened = new Promise<void>((resolve, reject) => {
    [open, fail] = [resolve, reject];
  });
  // Not every caller waits for it.
  opened.catch(() => undefined);
  const end = (reason: unknown) => {
    ended ??= reason;
    fail(ended);
    wake();
  };
  const stop = () => end(link.signal.reason);
  if (link.signal.aborted) stop();
  link.signal.addEventListener("abort", stop, { once: true });
  let hasOpened = false;
  socket.on("open", () => {
    hasOpened = true;
    open();
  });
  socket.on("message", (data) => {
    link.alive();
    const text = data.toString();
    waiting.push(text);
    waitingCharacters += text.length;
    if (waiting.length >= WAITING_MAX_COUNT || waitingCharacters >= WAITING_MAX_CHARACTERS) socket.pause();
    wake();
  });
  for (const sign of ["ping", "pong"] as const) socket.on(sign, link.alive);
  socket.on("unexpected-response", (_, response) => {
    end(refusedBy(name, response, link.clock.now()));
    response.destroy();
  });
  socket.on("error", ({ message }) =>
    end(new Upset(`the connection broke: ${message}`, { kind: hasOpened ? "lost" : "unreachable" })),
  );
  socket.on("close", (code, reason) => {
    const said = `the connection was closed: ${code} ${reason.toString()}`.trim();
    end(code === POLICY_CLOSE_CODE ? new Refused(said) : new Upset(said));
  });
  return {
    send: (message: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message)),
    /** Rejects with what ended the connection before it was open. */
    opened,
    /** Sends regularly: a message, where the far side expects one, and pings, because a market may be silent for days. */
    keepAlive(pingMs: number, heartbeat: { readonly everyMs: number; readonly message: object } | undefined): void {
      const { clock } = link;
      const isOpen = () => socket.readyState === WebSocket.OPEN;
      void repeat({ clock, signal: over.signal, pause: pingMs }, () => isOpen() && socket.ping());
      if (heartbeat === undefined) return;
      const { everyMs, message } = heartbeat;
      void repeat({ clock, signal: over.signal, pause: everyMs }, () => isOpen() && socket.send(JSON.stringify(message)));
    },
    /** Everything that has come since the last call. @throws what ended the connection, once everything was read */
    async next(): Promise<string[]> {
      while (waiting.length === 0) {
        if (ended !== undefined) throw ended;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const texts = waiting.splice(0);
      waitingCharacters = 0;
      if (socket.isPaused) socket.resume();
      return texts;
    },
    close() {
      over.abort();
      link.signal.removeEventListener("abort", stop);
      socket.terminate();
    },
  };
}

/** A text as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
