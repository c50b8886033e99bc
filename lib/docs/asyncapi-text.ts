import { CLOSES } from "#lib/contract/close-codes";
import { ERRORS, httpStatus } from "#lib/contract/errors";
import {
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_PING_INTERVAL_S,
  STREAM_PONG_TIMEOUT_S,
  STREAM_RESUME_MAX_AGE_S,
  STREAM_RESUME_MAX_RECORDS,
  STREAM_TICKET_LIFETIME_S,
} from "#lib/contract/limits";
import {
  HANDSHAKE_ERRORS,
  SOCKET_IO_NAMESPACE,
  SOCKET_IO_PATH,
  STREAM_PATH,
  STREAM_PROTOCOL,
  STREAM_PROTOCOLS,
} from "#lib/contract/stream";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { operations } from "#lib/operations/declarations";
import { CLOSES_INTRODUCTION, closesTable, limitsTable, plansTable } from "./asyncapi-limits";
import { markdownTable } from "./markdown-table";

const { createStreamTicket } = operations;
const TICKET_CALL = `${createStreamTicket.method} ${createStreamTicket.path}`;

const handshakeErrorsTable = () =>
  markdownTable(
    ["status", "code", "message", "when"],
    HANDSHAKE_ERRORS.map((id) => [httpStatus(id), ERRORS[id].code, `\`${id}\``, ERRORS[id].cause]),
  );

const encodingsTable = () =>
  markdownTable(
    ["subprotocol", "frames", "encoding"],
    [
      [`\`${STREAM_PROTOCOLS.json}\`, or none`, "text", "JSON"],
      [`\`${STREAM_PROTOCOLS.msgpack}\``, "binary", "[MessagePack](https://msgpack.org)"],
    ],
  );

/** The description of the streams as a whole. */
export function streamDescription(): string {
  return [
    "Quotes, snapshots, klines and market status for forex and metals in real time. The records are the same as in the REST API, which `/openapi.json` describes.",
    `The same messages are available over two transports: a plain WebSocket at \`${STREAM_PATH}\`, and Socket.IO with the namespace \`${SOCKET_IO_NAMESPACE}\`.`,
    "v1 only ever adds messages, fields and values. Ignore types and fields you do not know, and treat an unknown value as `unknown`.",
    "## Sequences",
    "`seq` increases by 1 with each record of (stream, ticker, timeframe) within an `epoch`. A record that replaces n others has `merged: n`, and the sequence jumps by n + 1. A jump without `merged` is a gap.",
    `After a reconnect, subscribe with \`resume\` and the last epoch and sequence number. The server replays what you missed, up to ${STREAM_RESUME_MAX_RECORDS} records or ${STREAM_RESUME_MAX_AGE_S} seconds. If those records are no longer available, it sends a snapshot with the current epoch instead.`,
    "## Silence",
    `The server sends a \`heartbeat\` every ${STREAM_HEARTBEAT_INTERVAL_S} seconds. It lists the subscribed tickers that are quiet, and why. The server pings the WebSocket every ${STREAM_PING_INTERVAL_S} seconds and closes it after ${STREAM_PONG_TIMEOUT_S} seconds without a pong.`,
    "## Slow consumers",
    `While a connection cannot keep up, the server sends only the newest quote, snapshot and open kline of each subscription. It never drops closed klines, acks or status messages. A connection that reads nothing for too long is closed with ${CLOSES.slow_consumer.code}.`,
    "## Limits",
    limitsTable(),
    "Default limits of each plan. The `welcome` message contains the limits of your connection:",
    plansTable(),
    "## Close codes",
    CLOSES_INTRODUCTION,
    closesTable(),
  ].join("\n\n");
}

/** How to open the WebSocket, and how a handshake is refused. */
export function websocketDescription(): string {
  return [
    `Send your key as \`Authorization: Bearer <api_key>\`. It needs the scope \`${createStreamTicket.scope}\`. Subprotocols are optional with a key.`,
    `Browsers cannot send this header. In a browser, create a ticket with \`${TICKET_CALL}\` and open \`new WebSocket(url, ["${STREAM_PROTOCOL}", "${TICKET_PROTOCOL_PREFIX}" + ticket])\`. A ticket opens one connection within ${STREAM_TICKET_LIFETIME_S} seconds. Keys in a query string are refused.`,
    "Each message is one text frame of JSON, unless the client selects another encoding with a subprotocol:",
    encodingsTable(),
    "Both encodings have the same messages, fields, limits, errors and close codes. In MessagePack, field names are strings, integers are integers, other numbers are 64-bit floats, and there are no binary values and no extension types. A client that offers both subprotocols gets the one it names first. The service does not compress messages: it never accepts `permessage-deflate`.",
    "A refused handshake returns an HTTP error with the same envelope as REST:",
    handshakeErrorsTable(),
  ].join("\n\n");
}

/** How to do the same over Socket.IO. */
export function socketIoDescription(): string {
  return [
    `Connect to the namespace \`${SOCKET_IO_NAMESPACE}\` on the path \`${SOCKET_IO_PATH}\`, with \`auth: {key}\` or \`auth: {ticket}\` in the handshake.`,
    'Each method is an event with its parameters as the argument. The acknowledgement callback receives the answer, an `ack` or an `error`: `socket.emit("subscribe", params, (answer) => …)`.',
    "The server sends each message as an event named after its `type`, with the whole message as the argument.",
  ].join("\n\n");
}

/** The ways to authenticate. */
export const KEY_DESCRIPTION = [
  "An API key in the handshake: `Authorization: Bearer sw_live_…` (live venue) or `sw_test_…` (synthetic sandbox).",
  "If the handshake has an `Origin` header, that origin must be one of the key's allowed origins.",
].join("\n\n");

export const TICKET_DESCRIPTION = [
  `A ticket from \`${TICKET_CALL}\`, sent as a second subprotocol: \`${STREAM_PROTOCOL}, ${TICKET_PROTOCOL_PREFIX}<ticket>\`. The server selects \`${STREAM_PROTOCOL}\`. \`${STREAM_PROTOCOLS.msgpack}\` can stand in its place.`,
  `It opens one connection within ${STREAM_TICKET_LIFETIME_S} seconds, from the origin it was created for.`,
].join("\n\n");

export const SOCKET_IO_AUTH_DESCRIPTION =
  "`auth: {key}` with an API key, or `auth: {ticket}` with a ticket, in the Socket.IO handshake.";
