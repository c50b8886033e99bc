import { STREAM_MESSAGE_MAX_BYTES } from "./limits";

/** What a client should do after a close: `retry` means reconnect with jitter, `terminal` means wait for the user to act. */
export type AfterClose = "retry" | "terminal";

interface CloseEntry {
  readonly code: number;
  /** Reason text of the close frame. */
  readonly reason: string;
  readonly after: AfterClose;
  /** What happened, as a console would show it. */
  readonly meaning: string;
}

/** How the service closes a stream connection: why, and whether the client should reconnect. */
export const CLOSES = {
  shutdown: {
    code: 1001,
    reason: "shutdown",
    after: "retry",
    meaning: "The server is shutting down or restarting. Reconnect with jitter and resume.",
  },
  slow_consumer: {
    code: 4008,
    reason: "slow_consumer",
    after: "retry",
    meaning: "The client read its messages too slowly. Read faster or subscribe to fewer tickers, then reconnect.",
  },
  flooding: {
    code: 4029,
    reason: "flooding",
    after: "retry",
    meaning: "The client sent too many messages. Reconnect with jitter and send fewer.",
  },
  protocol_abuse: {
    code: 4400,
    reason: "protocol_abuse",
    after: "terminal",
    meaning: "The client sent messages that could not be parsed, or did not subscribe in time. Fix the client.",
  },
  unauthorized: {
    code: 4401,
    reason: "unauthorized",
    after: "terminal",
    meaning: "The key was revoked or expired, or its grace period ended. Use another key.",
  },
  forbidden: {
    code: 4403,
    reason: "forbidden",
    after: "terminal",
    meaning:
      "The key no longer has the scope, origin or instrument it needs, the plan allows fewer connections, or the account was suspended.",
  },
} as const satisfies Record<string, CloseEntry>;

export type CloseId = keyof typeof CLOSES;

/** Close codes of the WebSocket protocol itself (RFC 6455, 7.4.1). The client broke the protocol and must be fixed. */
export const PROTOCOL_CLOSES: Readonly<Record<number, string>> = {
  1002: "A frame violated the WebSocket protocol.",
  1003: "A frame had a type that is not accepted.",
  1007: "A text frame was not valid UTF-8.",
  1008: "The connection violated a policy.",
  1009: `A message was larger than ${STREAM_MESSAGE_MAX_BYTES} bytes.`,
};

/** What a client should do after a close with this code. Any code not listed here (1000, 1006, 1011 …) means retry. */
export function afterClose(code: number): AfterClose {
  if (code in PROTOCOL_CLOSES) return "terminal";
  return Object.values(CLOSES).find((entry) => entry.code === code)?.after ?? "retry";
}

/** Why a connection was closed, in words; undefined for a code this service does not use. */
export function closeMeaning(code: number): string | undefined {
  return PROTOCOL_CLOSES[code] ?? Object.values(CLOSES).find((entry) => entry.code === code)?.meaning;
}
