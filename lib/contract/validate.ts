import { z } from "zod";
import type { ErrorId } from "./errors";

/** What is wrong with a parameter: the identifier and the data of the answer. */
export interface ParameterIssue {
  fault: ErrorId;
  /**
   * A sentence, or what follows the parameter's name in one ("must be an integer."): a text that starts with a capital
   * stands alone, any other is put behind the name.
   */
  detail: string;
  /** Tickers that were refused, as sent. */
  tickers?: string[];
  allowed?: readonly string[];
  max?: number;
}

/** A value that a schema refuses: where, why, and the sentence that says so. */
export interface Refusal extends ParameterIssue {
  readonly path: readonly PropertyKey[];
  readonly issue: z.core.$ZodIssue;
}

/** How places inside a value are named. */
export interface Naming {
  /** The path by which the sender knows a field; the schema's own path unless given. */
  readonly place?: (path: readonly PropertyKey[]) => readonly PropertyKey[];
  /** Names the whole value at the start of a sentence. */
  readonly whole?: string;
}

type Validated<Output> = { readonly data: Output } | { readonly refusals: readonly [Refusal, ...Refusal[]] };

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];
type Bounded = Extract<RawIssue, { code: "too_small" | "too_big" }>;

/** A refusal repeats this much of a name that was sent. */
const REPEATED_MAX_CHARACTERS = 80;

const TYPES: Readonly<Record<string, string>> = {
  string: "must be a string.",
  number: "must be a number.",
  int: "must be an integer.",
  boolean: "must be true or false.",
  array: "must be an array.",
  tuple: "must be an array.",
  object: "must be an object.",
  record: "must be an object.",
  null: "must be null.",
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "must be a UUID.",
  url: "must be a URL.",
  datetime: "must be an ISO 8601 timestamp, for example 2026-01-31T17:00:00Z.",
  date: "must be a date in the form YYYY-MM-DD.",
  email: "must be an email address.",
};
const UNREADABLE = "is not valid.";

/** What is said of a value outside a fixed set. */
export function mustBeOneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => `\`${String(value)}\``);
  return quoted.length === 1 ? `must be ${quoted[0]}.` : `must be one of ${quoted.join(", ")}.`;
}

/** What is said of a parameter that is absent. */
export function isRequired(name: string): string {
  return `\`${name}\` is required.`;
}

function tooSmall({ origin, inclusive }: Bounded, minimum: number | bigint): string {
  const sized = origin === "string" || origin === "array" || origin === "set";
  if (sized && Number(minimum) === 1) return "must not be empty.";
  if (sized) return `must have at least ${minimum} ${origin === "string" ? "characters" : "items"}.`;
  return inclusive ? `must be at least ${minimum}.` : `must be greater than ${minimum}.`;
}

function tooBig({ origin, inclusive }: Bounded, maximum: number | bigint): string {
  if (origin === "string") return `must have at most ${maximum} characters.`;
  if (origin === "array" || origin === "set") return `takes at most ${maximum} items.`;
  return inclusive ? `must be at most ${maximum}.` : `must be less than ${maximum}.`;
}

/** The words for an issue whose schema brings none of its own. */
function wordsOf(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? UNREADABLE;
    case "invalid_value":
      return mustBeOneOf(issue.values);
    case "too_small":
      return tooSmall(issue, issue.minimum);
    case "too_big":
      return tooBig(issue, issue.maximum);
    case "invalid_format":
      return FORMATS[issue.format] ?? UNREADABLE;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}.`;
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options) ? mustBeOneOf(issue.options) : UNREADABLE;
    default:
      return UNREADABLE;
  }
}

/** A path in the notation of code, `week[1].open`; empty for the whole value. */
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

function describe(issue: z.core.$ZodIssue, root: unknown): ParameterIssue {
  if (issue.code === "custom")
    return (issue.params as ParameterIssue | undefined) ?? { fault: "invalid_parameter", detail: issue.message };
  if (issue.code === "unrecognized_keys") return { fault: "invalid_parameter", detail: "is not a known field." };
  // The key of a record has issues of its own.
  if (issue.code === "invalid_key") return { fault: "invalid_parameter", detail: issue.issues[0]?.message ?? UNREADABLE };
  const missing = issue.path.length > 0 && valueAt(root, issue.path) === undefined;
  return missing ? { fault: "missing_parameter", detail: "is required." } : { fault: "invalid_parameter", detail: issue.message };
}

/** A detail as a whole sentence about the parameter at a path. */
export function sentenceOf(detail: string, path: readonly PropertyKey[], whole = "The value"): string {
  const place = pathText(path);
  return /^\p{Lu}/u.test(detail) || detail.startsWith("`") ? detail : `${place === "" ? whole : `\`${place}\``} ${detail}`;
}

/**
 * Parses a value. Everything that turns zod issues into words goes through here, so that a query, a form, a stream message
 * and a setting are refused in the same voice.
 */
export function validate<Output>(schema: z.ZodType<Output>, value: unknown, naming: Naming = {}): Validated<Output> {
  const parsed = schema.safeParse(value, { error: wordsOf });
  if (parsed.success) return { data: parsed.data };
  const refusals = parsed.error.issues.map((issue): Refusal => {
    const own = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
    const path = naming.place?.(own) ?? own;
    const { detail, ...rest } = describe(issue, value);
    return { ...rest, detail: sentenceOf(detail, path, naming.whole), path, issue };
  });
  return { refusals: refusals as [Refusal, ...Refusal[]] };
}

/** Refuses a value inside a zod transform, with the identifier and the words of the answer. */
export function refuse(ctx: z.RefinementCtx, issue: ParameterIssue): never {
  ctx.addIssue({ code: "custom", message: issue.detail, params: { ...issue } });
  return z.NEVER;
}
