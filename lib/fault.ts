import type { z } from "zod";
import type { FailureData } from "#lib/contract/envelope";
import { ERRORS, type ErrorId } from "#lib/contract/errors";
import { type Naming, type ParameterIssue, validate } from "#lib/contract/validate";

/**
 * The server and Next's bundle hold separate copies of this module, so `instanceof` fails across them: a fault is recognized by
 * this brand alone.
 */
const BRAND = Symbol.for("spotwire.fault");

/** Maximum length of a field name that a fault repeats. */
const PARAMETER_MAX_CHARACTERS = 80;

/** What a fault tells the caller in addition to its identifier. */
export type FaultData = Partial<Omit<FailureData, "request_id" | "docs_url">>;

/** A declared failure: becomes the error envelope of its identifier wherever it is caught. */
export class Fault extends Error {
  readonly [BRAND] = true;
  readonly id: ErrorId;
  readonly data: FaultData;

  constructor(id: ErrorId, data: FaultData = {}) {
    const { stackTraceLimit } = Error;
    // A fault is an answer, not a bug. Nobody reads its stack, which costs more than the rest of a refusal.
    Error.stackTraceLimit = 0;
    super(data.detail ?? ERRORS[id].title);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Fault";
    this.id = id;
    this.data = data;
  }
}

/** True for a fault made by any copy of this module. */
export function isFault(error: unknown): error is Fault {
  return typeof error === "object" && error !== null && BRAND in error;
}

/** The fault of a refused parameter. */
export function parameterFault({ fault, detail, tickers, allowed, max }: ParameterIssue, parameter: string): Fault {
  const data: FaultData = { detail, parameter };
  if (tickers !== undefined) data.tickers = tickers;
  if (allowed !== undefined) data.allowed = [...allowed];
  if (max !== undefined) data.max = max;
  return new Fault(fault, data);
}

/**
 * Parses a value with its schema.
 * @throws Fault of the first problem; `parameter` is the top-level field ("body" for the whole value), and the detail names the
 * place inside it
 */
export function requireValid<Output>(schema: z.ZodType<Output>, value: unknown, naming?: Naming): Output {
  const validated = validate(schema, value, naming);
  if ("data" in validated) return validated.data;
  const [refusal] = validated.refusals;
  const [field = "body", ...inside] = refusal.path;
  // A missing part of a field that was sent does not count as a missing parameter.
  const fault = inside.length > 0 && refusal.fault === "missing_parameter" ? "invalid_parameter" : refusal.fault;
  throw parameterFault({ ...refusal, fault }, String(field).slice(0, PARAMETER_MAX_CHARACTERS));
}
