import { ERRORS, httpStatus } from "#lib/contract/errors";
import {
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_PING_INTERVAL_S,
  STREAM_PONG_TIMEOUT_S,
  STREAM_RESUME_MAX_AGE_S,
  STREAM_RESUME_MAX_RECORDS,
  STREAM_TICKET_LIFETIME_S,
} from "#lib/contract/limits";
import { operations } from "#lib/contract/operations";
import { HANDSHAKE_ERRORS, SOCKET_IO_NAMESPACE, SOCKET_IO_PATH, STREAM_PATH, STREAM_PROTOCOL } from "#lib/contract/stream";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { closesTable, limitsTable, plansTable } from "./asyncapi-limits";
import { markdownTable } from "./markdown-table";

const { createStreamTicket } = operations;
const TICKET_CALL = `${createStreamTicket.method} ${createStreamTicket.path}`;

const handshakeErrorsTable = () =>
  markdownTable(
    ["status", "code", "message", "when"],
    HANDSHAKE_ERRORS.map((id) => [httpStatus(id), ERRORS[id].code, `\`${id}\``, ERRORS[id].cause]),
  );

/** What the document says of the streams as a whole. */
export function streamDescription(): string {
  return [
    "Quotes, snapshots, klines and market status for forex and metals, as they change. The records are those of the REST interface, which `/openapi.json` describes.",
    `One set of messages, two transports: a plain WebSocket at \`${STREAM_PATH}\`, and Socket.IO in the namespace \`${SOCKET_IO_NAMESPACE}\`.`,
    "Within v1 messages, fields and values are only added: ignore types and fields you do not know, and treat an unknown value as `unknown`.",
    "## Sequences",
    "`seq` grows by 1 for each record of (stream, ticker, timeframe) within an `epoch`. A record that stands for several says `merged: n` and the sequence jumps by n + 1; a jump without `merged` is a gap.",
    `After a reconnect, subscribe with \`resume\` and the last epoch and sequence: what was missed is replayed, up to ${STREAM_RESUME_MAX_RECORDS} records or ${STREAM_RESUME_MAX_AGE_S} seconds. Where it is held no longer, a snapshot with the current epoch comes instead.`,
    "## Silence",
    `A \`heartbeat\` comes every ${STREAM_HEARTBEAT_INTERVAL_S} seconds and says which subscribed tickers are quiet, and why. The WebSocket is pinged every ${STREAM_PING_INTERVAL_S} seconds and cut after ${STREAM_PONG_TIMEOUT_S} seconds without a pong.`,
    "## Slow readers",
    "Quotes, snapshots and open klines are merged to the newest while a connection does not keep up. Closed klines, acks and status are never left out; a connection that takes nothing for too long is closed with 4008.",
    "## Limits",
    limitsTable(),
    "Defaults of the plans; `welcome` says what counts for a connection:",
    plansTable(),
    "## Close codes",
    "`retry`: connect again, with jitter. `terminal`: not before its user acts. Try again after a code that is not listed.",
    closesTable(),
  ].join("\n\n");
}

/** How the WebSocket is opened, and how that is refused. */
export function websocketDescription(): string {
  return [
    `Send the key as \`Authorization: Bearer <api_key>\`; it needs the scope \`${createStreamTicket.scope}\`. The subprotocol \`${STREAM_PROTOCOL}\` may be offered.`,
    `A browser cannot send that header. It fetches a ticket with \`${TICKET_CALL}\` and opens \`new WebSocket(url, ["${STREAM_PROTOCOL}", "${TICKET_PROTOCOL_PREFIX}" + ticket])\`. A ticket opens one connection, within ${STREAM_TICKET_LIFETIME_S} seconds. A key in a query string is refused.`,
    "Each message is one text frame of JSON. A refused handshake is an HTTP answer with the envelope of REST:",
    handshakeErrorsTable(),
  ].join("\n\n");
}

/** How the same is done over Socket.IO. */
export function socketIoDescription(): string {
  return [
    `Namespace \`${SOCKET_IO_NAMESPACE}\` on the path \`${SOCKET_IO_PATH}\`, with \`auth: {key}\` or \`auth: {ticket}\` in the handshake.`,
    'A method is an event, its parameters the argument, and the answer comes to the acknowledgement: `socket.emit("subscribe", params, (answer) => …)` gives an `ack` or an `error`.',
    "What the service sends is an event named by its `type`, with the whole message as the argument.",
  ].join("\n\n");
}

/** The ways to say who one is. */
export const KEY_DESCRIPTION = [
  "An API key in the handshake: `Authorization: Bearer sw_live_…` (live venue) or `sw_test_…` (synthetic sandbox).",
  "A handshake that carries `Origin` also needs that origin among the key's allowed origins.",
].join("\n\n");

export const TICKET_DESCRIPTION = [
  `A ticket of \`${TICKET_CALL}\`, offered as a second subprotocol: \`${STREAM_PROTOCOL}, ${TICKET_PROTOCOL_PREFIX}<ticket>\`. The answer chooses \`${STREAM_PROTOCOL}\`.`,
  `It opens one connection, within ${STREAM_TICKET_LIFETIME_S} seconds, from the origin it was made for.`,
].join("\n\n");

export const SOCKET_IO_AUTH_DESCRIPTION =
  "`auth: {key}` with an API key, or `auth: {ticket}` with a ticket, in the handshake of Socket.IO.";
