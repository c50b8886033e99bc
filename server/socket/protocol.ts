import { STREAM_TICKERS_PER_MESSAGE_MAX_COUNT } from "#lib/contract/limits";
import { ClientMessage, type MessageId, STREAM_METHODS } from "#lib/contract/stream";
import { isRequired, type Refusal, validate } from "#lib/contract/validate";
import { Fault, parameterFault } from "#lib/fault";

/** What became of reading a message: the message, or the fault that answers it, with the id it bore as far as that was legible. */
export type Reading =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly id: MessageId; readonly fault: Fault };

/** Reads the text of a message. Never throws. */
export function readText(text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, id: null, fault: new Fault("invalid_parameter", { detail: "The message is not valid JSON." }) };
  }
  return readMessage(value);
}

/** Reads a message that was parsed already. Never throws. */
export function readMessage(value: unknown): Reading {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { ok: false, id: null, fault: new Fault("invalid_parameter", { detail: "The message must be a JSON object." }) };
  const read = validate(ClientMessage, value, { place, whole: "The message" });
  if ("refusals" in read) return { ok: false, id: idOf(value), fault: faultOf(read.refusals[0]) };
  const fault = contradiction(read.data);
  return fault === undefined ? { ok: true, message: read.data } : { ok: false, id: read.data.id ?? null, fault };
}

/** The id of a message that is wrong elsewhere. */
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

/** What is wrong between several parts of a message. */
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
