import type { z } from "zod";
import { Fault } from "#lib/fault";

/** A refusal repeats so much of a name that was sent. */
const REPEATED_MAX_CHARACTERS = 80;

const NEEDED = "Is needed.";
const KINDS: Readonly<Record<string, string>> = {
  string: "Must be text.",
  number: "Must be a number.",
  int: "Must be a whole number.",
  boolean: "Must be true or false.",
  array: "Must be a list.",
  tuple: "Must be a list.",
  object: "Must be an object.",
  record: "Must be an object.",
  date: "Must be an instant.",
  null: "Must be null.",
};
const FORMS: Readonly<Record<string, string>> = {
  uuid: "Must be an id.",
  datetime: "Must be an ISO 8601 timestamp, for example 2026-01-31T17:00:00Z.",
  date: "Must be a date, YYYY-MM-DD.",
  email: "Must be an e-mail address.",
};

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];
type Bounded = Extract<RawIssue, { code: "too_small" | "too_big" }>;

function choice(values: readonly unknown[]): string {
  const [only] = values;
  return values.length === 1 ? `Must be ${only}.` : `Must be one of ${values.join(", ")}.`;
}

function bound({ origin }: Bounded, word: "At least" | "At most", limit: number | bigint): string {
  const unit: Readonly<Record<string, string>> = { string: " characters", array: " of them", set: " of them", file: " bytes" };
  return `${word} ${limit}${unit[origin] ?? ""}.`;
}

/** What is wrong with a value in plain words, wherever a schema has none of its own. */
export function plainWords(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? "Has the wrong type.";
    case "invalid_value":
      return choice(issue.values);
    case "too_small":
      return bound(issue, "At least", issue.minimum);
    case "too_big":
      return bound(issue, "At most", issue.maximum);
    case "invalid_format":
      return FORMS[issue.format] ?? "Has the wrong form.";
    case "not_multiple_of":
      return `Must be a multiple of ${issue.divisor}.`;
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options) ? choice(issue.options) : "Cannot be read.";
    default:
      return "Cannot be read.";
  }
}

/** A path as it is read aloud: `week[2].open`; empty for none. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step).slice(0, REPEATED_MAX_CHARACTERS)}`))
    .join("")
    .replace(/^\./, "");
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

function wordsOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "unrecognized_keys") return "There is no such field.";
  // A key of a record is judged as a value is: its words are inside.
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  return issue.path.length > 0 && valueAt(value, issue.path) === undefined ? NEEDED : issue.message;
}

/**
 * The fault of the first thing that a schema has against what was sent: `parameter` is the form's field, `detail` says what
 * is wrong, after the place in the field where it is a part of it.
 */
export function refusal({ issues }: z.ZodError, value: unknown): Fault {
  const [issue] = issues;
  if (issue === undefined) return new Fault("invalid_parameter");
  const [field = "body", ...inner] = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  const parameter = String(field).slice(0, REPEATED_MAX_CHARACTERS);
  const words = wordsOf(issue, value);
  const place = pathText(inner);
  if (place !== "") return new Fault("invalid_parameter", { parameter, detail: `${place}: ${words}` });
  return new Fault(words === NEEDED ? "missing_parameter" : "invalid_parameter", { parameter, detail: words });
}
