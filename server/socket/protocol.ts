import type { z } from "zod";
import type { ErrorId } from "#lib/contract/errors";
import { STREAM_TICKERS_PER_MESSAGE_MAX_COUNT } from "#lib/contract/limits";
import type { ParameterIssue } from "#lib/contract/primitives";
import { ClientMessage, type MessageId, STREAM_METHODS } from "#lib/contract/stream";
import { Fault } from "#lib/fault";

/** What became of reading a message: the message, or the fault that answers it, with the id it bore as far as that was legible. */
export type Reading =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly id: MessageId; readonly fault: Fault };

type Issue = z.core.$ZodIssue;

/** Reads the text of a message. Never throws. */
export function readText(text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, id: null, fault: new Fault("invalid_parameter", { detail: "The message is not JSON." }) };
  }
  return readMessage(value);
}

/** Reads a message that was parsed already. Never throws. */
export function readMessage(value: unknown): Reading {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { ok: false, id: null, fault: new Fault("invalid_parameter", { detail: "A message is a JSON object." }) };
  const read = ClientMessage.safeParse(value);
  if (!read.success) return { ok: false, id: idOf(value), fault: faultOf(value, read.error.issues) };
  const fault = contradiction(read.data);
  return fault === undefined ? { ok: true, message: read.data } : { ok: false, id: read.data.id ?? null, fault };
}

/** The id of a message that is wrong elsewhere. */
function idOf(value: object): MessageId {
  const parsed = "id" in value ? ClientMessage.options[3].shape.id.safeParse(value.id) : undefined;
  return parsed?.success ? (parsed.data ?? null) : null;
}

/** The name of a part as its sender knows it: `params.tickers` is `tickers`. */
function nameOf(path: Issue["path"]): string {
  const names = path[0] === "params" && path.length > 1 ? path.slice(1) : path;
  return names.map(String).join(".");
}

function valueAt(value: unknown, path: Issue["path"]): unknown {
  let part = value;
  for (const key of path) {
    if (typeof part !== "object" || part === null) return undefined;
    part = (part as Record<PropertyKey, unknown>)[key];
  }
  return part;
}

/** The fault of the first thing that is wrong, in the vocabulary of REST. */
function faultOf(value: object, issues: readonly Issue[]): Fault {
  const [issue] = issues;
  if (issue === undefined) return new Fault("invalid_parameter");
  const parameter = nameOf(issue.path);
  if (issue.code === "custom") {
    const { fault, detail, ...rest } = issue.params as unknown as ParameterIssue;
    return new Fault(fault, { detail, parameter, ...(rest.allowed && { allowed: [...rest.allowed] }) });
  }
  if (valueAt(value, issue.path) === undefined) return missing(parameter);
  if (parameter === "tickers" && issue.code === "too_small") return missing(parameter);
  if (parameter === "tickers" && issue.code === "too_big")
    return refuse("too_many_tickers", parameter, `One message names at most ${issue.maximum} tickers.`, {
      max: STREAM_TICKERS_PER_MESSAGE_MAX_COUNT,
    });
  if (parameter === "method")
    return refuse("invalid_parameter", parameter, "There is no such method.", { allowed: [...STREAM_METHODS] });
  if (issue.code === "invalid_value")
    return refuse("invalid_parameter", parameter, "Not one of the values that are accepted.", {
      allowed: issue.values.map(String),
    });
  return refuse("invalid_parameter", parameter, `${issue.message}.`);
}

function missing(parameter: string): Fault {
  return refuse("missing_parameter", parameter, `\`${parameter}\` is required.`);
}

function refuse(id: ErrorId, parameter: string, detail: string, more: { allowed?: string[]; max?: number } = {}): Fault {
  return new Fault(id, { detail, parameter, ...more });
}

/** What is wrong between several parts of a message. */
function contradiction(message: ClientMessage): Fault | undefined {
  if (message.method !== "subscribe" && message.method !== "unsubscribe") return undefined;
  const { stream, timeframe, tickers } = message.params;
  if (stream === "kline" && timeframe === undefined) return missing("timeframe");
  if (stream !== "kline" && timeframe !== undefined)
    return refuse("invalid_parameter", "timeframe", "Only the kline stream has timeframes.");
  const seq = message.method === "subscribe" ? message.params.resume?.seq : undefined;
  if (typeof seq === "number" && tickers.length > 1)
    return refuse("invalid_parameter", "resume.seq", "With several tickers, `seq` is an object: a sequence for each ticker.");
  return undefined;
}
