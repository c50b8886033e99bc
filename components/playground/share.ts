import { KEY_PREFIX } from "#lib/contract/key-text";
import { OPERATION_PARAMETER, type PlayOperation, type Values } from "./model";

/** Longest value in a link or in the history. */
const VALUE_MAX_CHARACTERS = 2_000;
/** Longest part of a link that is shown to the reader. */
const SHOWN_MAX_CHARACTERS = 40;
const SHOWN_MAX_COUNT = 5;
/** Keys and tokens: a link or a history that contains one would disclose it. */
const SECRET = new RegExp(`${KEY_PREFIX}_(?:live|test|page|link)_`, "i");

/** The parsed content of a link. */
interface ReadLink {
  readonly operation: PlayOperation;
  readonly values: Values;
  readonly notices: readonly string[];
}

/** The initial values of an operation: an example of each required parameter. */
export function startValues({ fields }: PlayOperation): Values {
  return Object.fromEntries(fields.map(({ name, required, example }) => [name, required ? example : ""]));
}

/** The values that may be shared: those that belong to the operation, are not too long and contain no key. */
export function shareable({ fields }: PlayOperation, values: Readonly<Record<string, unknown>>): Values {
  const kept = fields.flatMap(({ name }) => {
    const value = values[name];
    const fine = typeof value === "string" && value.length <= VALUE_MAX_CHARACTERS && !SECRET.test(value);
    return fine && value !== "" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** Path and query that restore an operation with its values; never with a key. */
export function linkTo(operation: PlayOperation, values: Values): string {
  const query = new URLSearchParams({ [OPERATION_PARAMETER]: operation.id, ...shareable(operation, values) });
  return `/playground?${query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
}

/** A part of a link, shortened and quoted for a sentence. */
function shown(text: string): string {
  const clean = text.replace(/[^\p{L}\p{N}_.,:-]/gu, "?");
  return `“${clean.length > SHOWN_MAX_CHARACTERS ? `${clean.slice(0, SHOWN_MAX_CHARACTERS)}…` : clean}”`;
}

type Search = Readonly<Record<string, string | readonly string[] | undefined>>;

const firstOf = (value: string | readonly string[] | undefined) => (typeof value === "object" ? value[0] : value);

/** Parses a link. Unknown parts are ignored and reported in a notice; an invalid value stays, so that the form reports it. */
export function readLink(operations: readonly PlayOperation[], fallback: PlayOperation, search: Search): ReadLink {
  const notices: string[] = [];
  const wanted = firstOf(search[OPERATION_PARAMETER]);
  const found = operations.find(({ id }) => id === wanted);
  const operation = found ?? fallback;
  if (wanted !== undefined && found === undefined)
    notices.push(`The operation in this link, ${shown(wanted)}, does not exist. Choose one from the list.`);
  const names = Object.keys(search).filter((name) => name !== OPERATION_PARAMETER);
  if (wanted === undefined || found === undefined) return { operation, values: startValues(operation), notices };
  const unknown = names.filter((name) => !operation.fields.some((field) => field.name === name));
  if (unknown.length > 0)
    notices.push(`${operation.title} does not take ${unknown.slice(0, SHOWN_MAX_COUNT).map(shown).join(", ")}; it was left out.`);
  const given = Object.fromEntries(names.map((name) => [name, firstOf(search[name])]));
  const values = shareable(operation, given);
  const refused = operation.fields.filter(({ name }) => Boolean(given[name]) && values[name] === undefined);
  if (refused.length > 0)
    notices.push(
      `The value of ${refused.map(({ name }) => shown(name)).join(", ")} was left out: it is too long or holds a key.`,
    );
  if (names.length === 0) return { operation, values: startValues(operation), notices };
  return { operation, values: { ...Object.fromEntries(operation.fields.map(({ name }) => [name, ""])), ...values }, notices };
}
