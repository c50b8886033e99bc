import { OPERATION_PARAMETER, type PlayOperation, type Values } from "./model";

/** Longest value that a link or the history carries. */
const VALUE_MAX_CHARACTERS = 2_000;
/** Longest piece of a link that is repeated to the reader. */
const SHOWN_MAX_CHARACTERS = 40;
const SHOWN_MAX_COUNT = 5;
/** Keys, tokens and tickets: a link or a history with one in it would hand it on. */
const SECRET = /sw_(?:live|test|page)_/i;

/** What of a link was understood. */
interface ReadLink {
  readonly operation: PlayOperation;
  readonly values: Values;
  readonly notices: readonly string[];
}

/** The values an operation begins with: an example of what it requires. */
export function startValues({ fields }: PlayOperation): Values {
  return Object.fromEntries(fields.map(({ name, required, example }) => [name, required ? example : ""]));
}

/** The values that may be passed on: what belongs to the operation, is not too long and holds no key. */
export function shareable({ fields }: PlayOperation, values: Readonly<Record<string, unknown>>): Values {
  const kept = fields.flatMap(({ name }) => {
    const value = values[name];
    const fine = typeof value === "string" && value.length <= VALUE_MAX_CHARACTERS && !SECRET.test(value);
    return fine && value !== "" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(kept);
}

/** Path and query that lead back to an operation with its values; never with a key. */
export function linkTo(operation: PlayOperation, values: Values): string {
  const query = new URLSearchParams({ [OPERATION_PARAMETER]: operation.id, ...shareable(operation, values) });
  return `/playground?${query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
}

/** A piece of a link as it may stand in a sentence. */
function shown(text: string): string {
  const clean = text.replace(/[^\p{L}\p{N}_.,:-]/gu, "?");
  return `“${clean.length > SHOWN_MAX_CHARACTERS ? `${clean.slice(0, SHOWN_MAX_CHARACTERS)}…` : clean}”`;
}

type Search = Readonly<Record<string, string | readonly string[] | undefined>>;

const firstOf = (value: string | readonly string[] | undefined) => (typeof value === "object" ? value[0] : value);

/** Reads a link. What cannot be read is left out and named in a notice; a value of a wrong form stays, for the form to judge. */
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
