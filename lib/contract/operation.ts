import type { z } from "zod";
import type { ErrorId } from "./errors";
import type { ParameterIssue, Scope } from "./primitives";

/** One query parameter: its schema takes the text of the URL and gives the parsed value. */
export interface Parameter<Value = unknown> {
  readonly schema: z.ZodType<Value, string>;
  readonly required: boolean;
  readonly description: string;
  /** A value that works, as it stands in a URL before encoding. */
  readonly example: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The parsed query of an operation. */
export type QueryOf<P extends Parameters> = {
  [Name in keyof P]: z.output<P[Name]["schema"]> | (P[Name]["required"] extends true ? never : undefined);
};

/** One REST operation: read by the route, the types, the documents, the playground and the tests. */
export interface Operation<P extends Parameters = Parameters, Data extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  readonly query: P;
  /** Media type of a request body, where there is one. */
  readonly body?: { readonly mediaType: string; readonly description: string; readonly example: string };
  readonly data: Data;
  readonly example: z.output<Data>;
  /** Every error this operation can answer. */
  readonly errors: readonly ErrorId[];
  /** Rate-limit units one request costs. */
  readonly cost: (query: QueryOf<P>) => number;
  /** A rule over several parameters; the issue it returns refuses the request. */
  readonly check?: (query: QueryOf<P>) => (ParameterIssue & { parameter: string }) | undefined;
}

/** Declares an operation; its parameters and data keep their types. */
export function operation<const P extends Parameters, Data extends z.ZodType>(
  definition: Operation<P, Data>,
): Operation<P, Data> {
  return definition;
}
