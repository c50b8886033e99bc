import { type Operation, splitAddress } from "#lib/contract/operation";
import type { StreamName, Timeframe } from "#lib/contract/primitives";

interface Target {
  /** Address of the service, for example `https://market.example.com`. */
  readonly base: string;
  /** A key that may be printed; null reads it from the environment variable SPOTWIRE_KEY instead. */
  readonly key: string | null;
}

/** A request of one REST operation. */
export interface RestCall extends Target {
  readonly operation: Pick<Operation, "method" | "path" | "file">;
  /** Query parameters as text; one that is empty is left out. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Where streams are served. */
interface StreamOperation {
  readonly method: "STREAM";
  /** Address of the raw WebSocket. */
  readonly path: string;
  /** Socket.IO namespace of the same messages. */
  readonly namespace: string;
}

/** A subscription over a stream connection. */
export interface StreamCall extends Target {
  readonly operation: StreamOperation;
  readonly parameters: {
    readonly stream: StreamName;
    readonly tickers: readonly string[];
    readonly timeframe?: Timeframe;
    readonly snapshot?: boolean;
  };
}

/** Prints one kind of call in one language. */
export interface Sample<Call> {
  readonly id: string;
  readonly label: string;
  /** What has to be installed first, as a command; absent where the language brings all. */
  readonly install?: string;
  generate(call: Call): string;
}

/** Name of the environment variable that holds a key that must not be printed. */
export const KEY_VARIABLE = "SPOTWIRE_KEY";

/** Characters that mean nothing in a string or a shell word of any of the languages. */
const ACTIVE = /[^\w.~:/?&=,%[\]@+-]/gu;
const PRINTABLE_KEY = /^[\w.-]{1,1000}$/;

/** Half a character, which no encoding has a form for, becomes the mark of one that is missing. */
const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");

const encodeAll = (text: string) =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");

/** A text inside a query: what cannot stand there is percent-encoded; `,` and `:` may, and read better. */
function queryPart(text: string): string {
  const encoded = encodeURIComponent(wellFormed(text)).replaceAll("%2C", ",").replaceAll("%3A", ":");
  return encoded.replace(ACTIVE, encodeAll);
}

/** The service's address without active characters and without a slash at its end. */
export function baseOf({ base }: Target): string {
  return wellFormed(base).replace(ACTIVE, encodeAll).replace(/\/+$/, "");
}

/** The whole address of a REST call. Its characters mean nothing to any language, so it can be put in any quotes. */
export function urlOf(call: RestCall): string {
  const address = splitAddress(call.operation, call.parameters, queryPart);
  const set = address.query.filter(([, value]) => value !== "");
  const query = set.map(([name, value]) => `${queryPart(name)}=${queryPart(value)}`).join("&");
  return `${baseOf(call)}${address.path}${query === "" ? "" : `?${query}`}`;
}

/** The address of the raw WebSocket. */
export function streamUrlOf(call: StreamCall): string {
  return `${baseOf(call).replace(/^http/, "ws")}${call.operation.path}`;
}

/** The key where it may be printed; null where it has to come from the environment. A text that is no key is never printed. */
export function keyOf({ key }: Target): string | null {
  return key !== null && PRINTABLE_KEY.test(key) ? key : null;
}

/** The message that subscribes to what the call asks for. */
export function subscribeOf({ parameters }: StreamCall): Readonly<Record<string, unknown>> {
  const { stream, tickers, timeframe, snapshot } = parameters;
  const rest = { ...(timeframe !== undefined && { timeframe }), ...(snapshot === false && { snapshot }) };
  return { stream, tickers: tickers.map(wellFormed), ...rest };
}

/** Characters that a string of a subscription shows as they are; no language reads them as code. */
const PLAIN = /[^\w.:-]/g;
const unicodeEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * The whole message that subscribes, as JSON that stands unchanged between the quotes of any language: beside JSON's own signs it
 * has plain characters only, the others as \\uXXXX.
 */
export function subscribeTextOf(call: StreamCall): string {
  const message = { id: 1, method: "subscribe", params: subscribeOf(call) };
  return JSON.stringify(message).replace(
    /"(?:[^"\\]|\\.)*"/g,
    (text) => `"${(JSON.parse(text) as string).replace(PLAIN, unicodeEscape)}"`,
  );
}
