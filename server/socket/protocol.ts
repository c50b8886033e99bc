import {
  type PlanLimits,
  STREAM_HEARTBEAT_INTERVAL_S,
  STREAM_MESSAGE_MAX_BYTES,
  STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
} from "#lib/contract/limits";
import {
  ClientMessage,
  type ErrorMessage,
  type MessageId,
  STREAM_METHODS,
  STREAM_PROTOCOL,
  STREAM_PROTOCOLS,
  type StreamEncoding,
  type Welcome,
} from "#lib/contract/stream";
import { isRequired, type Refusal, validate } from "#lib/contract/validate";
import { Fault, parameterFault } from "#lib/fault";
import { failureBody } from "#lib/http/respond";
import type { MessageRate } from "./message-rate";
import type { VenueStreams } from "./subscriptions";
import { unpack } from "./unpack";

/** The result of reading a message: the message, or the fault to answer, with the id of the message if it could be read. */
export type Reading =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly id: MessageId; readonly fault: Fault };

/** The reading of a message whose id is unknown. */
const illegible = (detail: string): Reading => ({ ok: false, id: null, fault: new Fault("invalid_parameter", { detail }) });

/** Reads the text of a message. Never throws. */
export function readText(text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return illegible("The message is not valid JSON.");
  }
  return readMessage(value);
}

/** Reads a message in MessagePack. Never throws. */
export function readPacked(bytes: Buffer): Reading {
  let value: unknown;
  try {
    value = unpack(bytes);
  } catch (error) {
    return illegible(`The message is not valid MessagePack: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return readMessage(value);
}

/** Reads a frame in each encoding. */
export const READERS: Readonly<Record<StreamEncoding, (data: Buffer, isBinary: boolean) => Reading>> = {
  json: (data, isBinary) =>
    isBinary ? illegible("Binary messages are not supported; send JSON text.") : readText(data.toString()),
  msgpack: (data, isBinary) =>
    isBinary
      ? readPacked(data)
      : illegible(`Text messages are not supported with \`${STREAM_PROTOCOLS.msgpack}\`; send MessagePack in binary messages.`),
};

/** Reads a parsed message. Never throws. */
export function readMessage(value: unknown): Reading {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return illegible("The message must be an object.");
  const read = validate(ClientMessage, value, { place, whole: "The message" });
  if ("refusals" in read) return { ok: false, id: idOf(value), fault: faultOf(read.refusals[0]) };
  const fault = contradiction(read.data);
  return fault === undefined ? { ok: true, message: read.data } : { ok: false, id: read.data.id ?? null, fault };
}

/** The id of an invalid message. */
function idOf(value: object): MessageId {
  const parsed = "id" in value ? ClientMessage.options[3].shape.id.safeParse(value.id) : undefined;
  return parsed?.success ? (parsed.data ?? null) : null;
}

/** The name of a field as its sender knows it: `params.tickers` is `tickers`. */
const place = (path: readonly PropertyKey[]) => (path[0] === "params" && path.length > 1 ? path.slice(1) : path);

/** The fault of a refused message, in the vocabulary of REST. */
function faultOf({ issue, ...refusal }: Refusal): Fault {
  const parameter = refusal.path.map(String).join(".");
  if (parameter === "tickers" && issue.code === "too_small") return missing(parameter);
  if (parameter === "tickers" && issue.code === "too_big")
    return parameterFault({ ...refusal, fault: "too_many_tickers", max: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT }, parameter);
  if (parameter === "method" && issue.code === "invalid_union")
    return parameterFault({ ...refusal, allowed: STREAM_METHODS }, parameter);
  if (issue.code === "invalid_value") return parameterFault({ ...refusal, allowed: issue.values.map(String) }, parameter);
  return parameterFault(refusal, parameter);
}

function missing(parameter: string): Fault {
  return parameterFault({ fault: "missing_parameter", detail: isRequired(parameter) }, parameter);
}

function refuse(parameter: string, detail: string): Fault {
  return parameterFault({ fault: "invalid_parameter", detail }, parameter);
}

/** Checks the rules between several fields of a message. */
function contradiction(message: ClientMessage): Fault | undefined {
  if (message.method !== "subscribe" && message.method !== "unsubscribe") return undefined;
  const { stream, timeframe, tickers } = message.params;
  if (stream === "kline" && timeframe === undefined) return missing("timeframe");
  if (stream !== "kline" && timeframe !== undefined)
    return refuse("timeframe", "`timeframe` is only allowed for the kline stream.");
  const seq = message.method === "subscribe" ? message.params.resume?.seq : undefined;
  if (typeof seq === "number" && tickers.length > 1)
    return refuse("resume.seq", "`resume.seq` must be an object with a sequence for each ticker when a message names several.");
  return undefined;
}

/** The first message of a connection. */
export function welcomeOf(
  connectionId: string,
  limits: PlanLimits,
  { perSecond, burst }: MessageRate,
  { market, clock }: VenueStreams,
): Welcome {
  return {
    type: "welcome",
    protocol: STREAM_PROTOCOL,
    connection_id: connectionId,
    venue: market.venue,
    time_msc: clock.now(),
    epoch: market.epoch,
    heartbeat_interval_s: STREAM_HEARTBEAT_INTERVAL_S,
    limits: {
      connections: limits.streamConnections,
      subscriptions: limits.subscriptionsPerConnection,
      messages_per_second: perSecond,
      messages_burst: burst,
      message_max_bytes: STREAM_MESSAGE_MAX_BYTES,
      tickers_per_message: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
    },
  };
}

/** Context of an error message. */
export interface ErrorPlace {
  /** Id of the message it answers; null when it answers none. */
  readonly id: MessageId;
  readonly connectionId: string;
  /** In front of the paths of docs pages. */
  readonly docsBase: string;
  /** The connection is closed with this code next. */
  readonly closeCode?: number;
  /** The `seq` from which a feeder has to send again. */
  readonly expectedSeq?: number;
}

/** A fault as a stream message, with the same code and text as REST. */
export function errorMessageOf(fault: Fault, place: ErrorPlace): ErrorMessage {
  const { id, connectionId, docsBase, closeCode: close_code, expectedSeq: expected_seq } = place;
  const { code, message, data } = failureBody(fault.id, fault.data, connectionId, docsBase);
  const more = { ...(close_code !== undefined && { close_code }), ...(expected_seq !== undefined && { expected_seq }) };
  return { type: "error", id, code, message, data: { ...data, ...more } };
}
