import { monotonicClock } from "#lib/client/clock";
import { fieldsOf } from "#lib/client/errors";
import { prepareHandshake } from "#lib/client/handshake";
import { type Socket, webSocketDialer } from "#lib/client/socket";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import type { StreamOperation } from "./model";
import { send } from "./send";
import { noStream, silence, type Trouble } from "./trouble";

/** The target and purpose of a connection. */
export interface SessionTarget {
  readonly operation: Pick<StreamOperation, "path" | "ticketPath">;
  readonly credential: Credential;
}

/** How a connection ended: with a close code if it had opened, with `trouble` if it had not. */
export interface SessionEnd {
  readonly code: number | null;
  readonly reason: string;
  readonly trouble?: Trouble;
}

interface SessionEvents {
  /** A message as received. */
  onText(text: string): void;
  /** Called once; no other call follows. */
  onEnd(end: SessionEnd): void;
}

/** One raw connection: messages are sent and received unchanged. */
export interface Session {
  /** Sends a message and returns its text; undefined, and nothing sent, before the first message and after the end. */
  send(message: object): string | undefined;
  close(): void;
}

/**
 * Opens a connection with a new ticket. It never reconnects: a console should show why a connection ended.
 * Messages can be sent once the welcome, the first text, has arrived.
 */
export function openSession(bearers: Bearers, { operation, credential }: SessionTarget, events: SessionEvents): Session {
  const stopping = new AbortController();
  let socket: Socket | undefined;
  let welcomed = false;

  function end(outcome: SessionEnd): void {
    if (stopping.signal.aborted) return;
    stopping.abort();
    events.onEnd(outcome);
  }

  async function dial(): Promise<void> {
    const { answer, trouble } = await send(bearers, { method: "POST", url: operation.ticketPath, credential });
    if (stopping.signal.aborted) return;
    if (trouble !== undefined) return end({ code: null, reason: "", trouble });
    const ticket = async () => String(fieldsOf(fieldsOf(answer?.body).data).ticket);
    const dialer = webSocketDialer(WebSocket);
    const handshake = await prepareHandshake(
      { key: undefined, ticket, fetchTicket: ticket },
      dialer,
      monotonicClock,
      stopping.signal,
    );
    const url = `${window.location.origin.replace(/^http/, "ws")}${operation.path}`;
    socket = dialer.dial(url, handshake, {
      onText(text) {
        welcomed = true;
        if (!stopping.signal.aborted) events.onText(text);
      },
      onEnd({ code, reason, error }) {
        const trouble = error === undefined ? {} : { trouble: noStream(credential) };
        end({ code: error === undefined ? code : null, reason, ...trouble });
      },
    });
  }

  dial().catch(() => end({ code: null, reason: "", trouble: silence() }));
  return {
    send(message) {
      if (socket === undefined || !welcomed || stopping.signal.aborted) return undefined;
      const text = JSON.stringify(message);
      socket.send(text);
      return text;
    },
    close() {
      stopping.abort();
      socket?.close();
    },
  };
}
