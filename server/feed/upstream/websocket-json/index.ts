import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../../feed";
import { retryAfterMs } from "../http";
import type { Heard, Link, Upstream } from "../port";
import type { Said, Vendor } from "./vendor";

const HANDSHAKE_MAX_MS = 15 * SECOND_MS;
/** The longest message; a larger one ends the connection. */
const MESSAGE_MAX_BYTES = 1_048_576;
/** Messages that wait to be read; beyond them the socket is paused, so that the far side holds the rest. */
const WAITING_MAX_COUNT = 1_000;
/** Close codes of a policy, which another try does not mend (RFC 6455, 7.4.1). */
const POLICY_CLOSE_CODE = 1008;

interface VendorAccount {
  readonly key: string;
  /** Another address, for a proxy. */
  readonly url?: string | undefined;
}

function refusedBy(vendor: string, { statusCode = 0, headers }: IncomingMessage, nowMs: number): Error {
  const said = `${vendor} answered ${statusCode} to the connection`;
  if (statusCode === 401 || statusCode === 403) return new Refused(`${said}. Check its key.`);
  return new Upset(said, { retryAfterMs: retryAfterMs(headers["retry-after"] ?? null, nowMs) });
}

/** The messages of a connection as they come. It ends by a throw, and reads no further than a bounded queue. */
function openSocket(url: string, vendor: Vendor, link: Link) {
  const socket = new WebSocket(url, {
    maxPayload: MESSAGE_MAX_BYTES,
    handshakeTimeout: HANDSHAKE_MAX_MS,
    perMessageDeflate: false,
  });
  const waiting: string[] = [];
  let ended: unknown;
  let wake: () => void = () => undefined;
  const end = (reason: unknown) => {
    ended ??= reason;
    wake();
  };
  const stop = () => end(link.signal.reason);
  if (link.signal.aborted) stop();
  link.signal.addEventListener("abort", stop, { once: true });
  socket.on("message", (data) => {
    link.alive();
    waiting.push(data.toString());
    if (waiting.length >= WAITING_MAX_COUNT) socket.pause();
    wake();
  });
  for (const sign of ["ping", "pong"] as const) socket.on(sign, link.alive);
  socket.on("unexpected-response", (_, response) => {
    end(refusedBy(vendor.name, response, link.clock.now()));
    response.destroy();
  });
  socket.on("error", (error) => end(new Upset(`the connection broke: ${error.message}`)));
  socket.on("close", (code, reason) => {
    const said = `the connection was closed: ${code} ${reason.toString()}`.trim();
    end(code === POLICY_CLOSE_CODE ? new Refused(said) : new Upset(said));
  });
  return {
    socket,
    send: (message: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message)),
    opened: new Promise<void>((resolve) => socket.once("open", resolve)),
    /** Everything that has come since the last call. @throws what ended the connection, once everything was read */
    async next(): Promise<string[]> {
      while (waiting.length === 0) {
        if (ended !== undefined) throw ended;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const texts = waiting.splice(0);
      if (socket.isPaused) socket.resume();
      return texts;
    },
    close() {
      link.signal.removeEventListener("abort", stop);
      socket.terminate();
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An upstream whose vendor sends JSON over WebSocket. */
export function socketUpstream(vendor: Vendor, { key, url = vendor.url }: VendorAccount): Upstream {
  const address = new URL(url);
  if (vendor.keyParameter !== undefined) address.searchParams.set(vendor.keyParameter, key);

  /** Sends what is due regularly: the vendor's heartbeat, and pings, because a market may be silent for days. */
  function keepAlive({ socket, send }: ReturnType<typeof openSocket>, { clock }: Link, signal: AbortSignal): void {
    const { heartbeat, declares } = vendor;
    const ping = () => socket.readyState === WebSocket.OPEN && socket.ping();
    void repeat({ clock, signal, pause: declares.idleMs / 3 }, ping);
    if (heartbeat !== undefined) void repeat({ clock, signal, pause: heartbeat.everyMs }, () => send(heartbeat.message));
  }

  return {
    name: vendor.name,
    declares: vendor.declares,
    symbolOf: vendor.symbolOf,
    secrets: [key],
    async *stream(symbols, link) {
      const connection = openSocket(address.href, vendor, link);
      const over = new AbortController();

      function proceed(next: "authenticate" | "subscribe" | "listen" | null): void {
        if (next === "authenticate") {
          link.step("authenticating");
          connection.send(vendor.authenticate?.(key) ?? {});
        } else if (next === "subscribe") {
          link.step("subscribing");
          connection.send(vendor.subscribe(symbols, key));
        } else if (next === "listen") link.step("live");
      }

      /** @throws Refused or Upset when the message says so */
      function take(said: Said, text: string, heard: Heard[]): void {
        if (said === "alive") return;
        if ("heard" in said) heard.push(...said.heard);
        else if ("next" in said) proceed(said.next);
        else if ("odd" in said) link.odd(said.odd, text);
        else if ("refused" in said) throw new Refused(said.refused);
        else throw new Upset(said.upset, { retryAfterMs: said.retryAfterMs });
      }

      void connection.opened.then(() => proceed(vendor.begins));
      keepAlive(connection, link, over.signal);
      try {
        for (;;) {
          const heard: Heard[] = [];
          for (const text of await connection.next()) for (const said of vendor.read(text, jsonOf(text))) take(said, text, heard);
          if (heard.length > 0) yield heard;
        }
      } finally {
        over.abort();
        connection.close();
      }
    },
  };
}
