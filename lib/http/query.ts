import { LRUCache } from "lru-cache";
import { QUERY_PARAMETERS_MAX_COUNT, QUERY_VALUE_MAX_CHARACTERS } from "#lib/contract/limits";
import type { Operation, Parameter } from "#lib/contract/operation";
import { isRequired, sentenceOf } from "#lib/contract/validate";
import { Fault, parameterFault, requireValid } from "#lib/fault";

/** Parsed queries cached per operation, because clients repeat the same few. */
const PARSED_KEPT_COUNT = 2_000;
/** Longer queries are not cached, which bounds memory. */
const PARSED_KEPT_MAX_CHARACTERS = 1_000;
const ELEMENT_NAME = /^(\w+)\[\d{0,3}\]$/;
const IGNORED_NAME = /[^A-Za-z0-9_.-]/g;
const IGNORED_NAME_MAX_CHARACTERS = 40;
const IGNORED_LISTED_COUNT = 10;

/** A parsed query. */
export interface ParsedQuery {
  readonly query: Record<string, unknown>;
  /** Value of X-Ignored-Params, or undefined when every parameter is known. */
  readonly ignored: string | undefined;
}

/** Parses the queries of one operation, with a cache. Equal texts give the same object. */
export function createQueryParser(operation: Operation): (text: string) => ParsedQuery {
  const kept = new LRUCache<string, ParsedQuery>({ max: PARSED_KEPT_COUNT });
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const parsed = parseQuery(operation, text);
    if (text.length <= PARSED_KEPT_MAX_CHARACTERS) kept.set(text, parsed);
    return parsed;
  };
}

function refuse(parameter: string, detail: string): never {
  throw parameterFault({ fault: "invalid_parameter", detail: sentenceOf(detail, [parameter]) }, parameter);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Fault("invalid_parameter", { detail: "The query is not valid percent-encoding." });
  }
}

/** The name of the list that this is an element of, as many clients write arrays: `tickers[]`, `tickers[0]`. */
function listNameOf({ query }: Operation, written: string): string | undefined {
  const name = ELEMENT_NAME.exec(written)?.[1];
  return name !== undefined && Object.hasOwn(query, name) && query[name]?.list ? name : undefined;
}

/** Name and value of each parameter, in order. */
function pairsOf(text: string): [string, string][] {
  const parts = text.split("&").filter((part) => part !== "");
  if (parts.length > QUERY_PARAMETERS_MAX_COUNT)
    throw new Fault("invalid_parameter", { detail: `A query takes at most ${QUERY_PARAMETERS_MAX_COUNT} parameters.` });
  return parts.map((part) => {
    const at = part.indexOf("=");
    return at === -1 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
  });
}

/**
 * Parses the text after "?" for an operation.
 * @throws Fault of the first invalid parameter, in the operation's order
 */
export function parseQuery(operation: Operation, text: string): ParsedQuery {
  const given = new Map<string, string>();
  const ignored = new Set<string>();
  for (const [written, value] of pairsOf(text)) {
    const name = listNameOf(operation, written) ?? written;
    const before = given.get(name);
    const parameter = Object.hasOwn(operation.query, name) ? operation.query[name] : undefined;
    if (parameter === undefined) ignored.add(name.replace(IGNORED_NAME, "?").slice(0, IGNORED_NAME_MAX_CHARACTERS));
    else if (before === undefined) given.set(name, value);
    else if (parameter.list) given.set(name, `${before},${value}`);
    else refuse(name, "was given twice.");
  }
  const query: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(operation.query)) {
    const value = given.get(name);
    query[name] = value === undefined && !parameter.required ? undefined : parseValue(name, parameter, value);
  }
  const issue = operation.check?.(query as never);
  if (issue !== undefined)
    throw parameterFault({ ...issue, detail: sentenceOf(issue.detail, [issue.parameter]) }, issue.parameter);
  const names = [...ignored].slice(0, IGNORED_LISTED_COUNT).join(", ");
  return { query, ignored: ignored.size === 0 ? undefined : names };
}

function parseValue(name: string, parameter: Parameter, value: string | undefined): unknown {
  if (value === undefined || (parameter.required && value.trim() === ""))
    throw new Fault("missing_parameter", {
      parameter: name,
      detail: value === undefined ? isRequired(name) : sentenceOf("must not be empty.", [name]),
    });
  if (value.length > QUERY_VALUE_MAX_CHARACTERS) refuse(name, `takes at most ${QUERY_VALUE_MAX_CHARACTERS} characters.`);
  return requireValid(parameter.schema, value, { place: () => [name] });
}
