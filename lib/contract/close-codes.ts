import { STREAM_MESSAGE_MAX_BYTES } from "./limits";

/** What a client does after a close: `retry` connects again with jitter, `terminal` does not before its user acts. */
export type AfterClose = "retry" | "terminal";

interface CloseEntry {
  readonly code: number;
  /** What the close frame says. */
  readonly reason: string;
  readonly after: AfterClose;
  /** What happened, in words for the reader of a console. */
  readonly meaning: string;
}

/** How the service ends a stream connection. A close is an answer too: why, and whether to come back. */
export const CLOSES = {
  shutdown: {
    code: 1001,
    reason: "shutdown",
    after: "retry",
    meaning: "The server shuts down or restarts. Connect again with jitter and resume.",
  },
  slow_consumer: {
    code: 4008,
    reason: "slow_consumer",
    after: "retry",
    meaning: "The connection did not take its messages for too long. Read faster or subscribe to less, then connect again.",
  },
  flooding: {
    code: 4029,
    reason: "flooding",
    after: "retry",
    meaning: "Too many messages were sent. Connect again with jitter, and send fewer.",
  },
  protocol_abuse: {
    code: 4400,
    reason: "protocol_abuse",
    after: "terminal",
    meaning: "Messages could not be read, or no subscribe came in time. Mend the client.",
  },
  unauthorized: {
    code: 4401,
    reason: "unauthorized",
    after: "terminal",
    meaning: "The key was revoked, expired, or its grace ended. Use another key.",
  },
  forbidden: {
    code: 4403,
    reason: "forbidden",
    after: "terminal",
    meaning: "The scope, the origin, an instrument or a place of the plan was withdrawn, or the account was suspended.",
  },
} as const satisfies Record<string, CloseEntry>;

export type CloseId = keyof typeof CLOSES;

/** Closes of the WebSocket protocol itself (RFC 6455, 7.4.1): the frames broke it, so the client has to be mended. */
export const PROTOCOL_CLOSES: Readonly<Record<number, string>> = {
  1002: "A frame broke the WebSocket protocol.",
  1003: "A frame was of a kind that is not accepted.",
  1007: "A text frame was not UTF-8.",
  1008: "The connection was refused by policy.",
  1009: `A message was longer than ${STREAM_MESSAGE_MAX_BYTES} bytes.`,
};

/** What a client does after a close with this code; whatever is not known here (1000, 1006, 1011 …) is worth another try. */
export function afterClose(code: number): AfterClose {
  if (code in PROTOCOL_CLOSES) return "terminal";
  return Object.values(CLOSES).find((entry) => entry.code === code)?.after ?? "retry";
}

/** Why a connection was closed, in words; undefined for a code that is not this service's. */
export function closeMeaning(code: number): string | undefined {
  return PROTOCOL_CLOSES[code] ?? Object.values(CLOSES).find((entry) => entry.code === code)?.meaning;
}
