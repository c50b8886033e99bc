import type { z } from "zod";
import type { ErrorId } from "./errors";
import type { Scope } from "./primitives";
import type { ParameterIssue } from "./validate";

const listInQuery = (name: string) =>
  `Separate them with commas, or send one parameter for each: \`${name}=A&${name}=B\`, \`${name}[]=A\` and \`${name}[0]=A\` work too.`;

/** One query parameter. Its schema takes the text from the URL and returns the parsed value. */
export interface Parameter<Value = unknown> {
  readonly schema: z.ZodType<Value, string>;
  readonly required: boolean;
  /** A list: its elements may come comma-separated, or with one parameter each, also named `x[]` or `x[0]`. Its schema gets them joined by commas. */
  readonly list?: true;
  readonly description: string;
  /** A valid value, as text before URL encoding. */
  readonly example: string;
  /** A first call does not have it: samples and recorded examples leave it out. */
  readonly advanced?: true;
}

/** What a parameter of a query means, and how a list is written there. */
export function describeParameter(name: string, { description, list }: Parameter): string {
  return list ? `${description} ${listInQuery(name)}` : description;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** Path of the page of an operation in the docs. */
export function operationDocsPath({ id }: Pick<Operation, "id">): string {
  return `/docs/operations/${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The parameters of the first call of an operation, as samples show it: the example of each that is not advanced. */
export function exampleParameters({ query }: Pick<Operation, "query">): Record<string, string> {
  const first = Object.entries(query).filter(([, { advanced }]) => advanced === undefined);
  return Object.fromEntries(first.map(([name, { example }]) => [name, example]));
}

/** The parsed query of an operation. */
export type QueryOf<P extends Parameters> = {
  [Name in keyof P]: z.output<P[Name]["schema"]> | (P[Name]["required"] extends true ? never : undefined);
};

/** Whether a parameter is a part of the path. */
export const isInPath = ({ path }: Pick<Operation, "path">, name: string) => path.endsWith(`{${name}}`);

/** The path with the parameter that is a part of it, and the parameters of the query. @param encode escapes the part */
export function splitAddress(
  { path }: Pick<Operation, "path">,
  parameters: Readonly<Record<string, string>>,
  encode: (part: string) => string = encodeURIComponent,
): { readonly path: string; readonly query: readonly (readonly [name: string, value: string])[] } {
  const filled = path.replace(/\{(\w+)\}$/, (_, name: string) => encode(parameters[name] ?? ""));
  return { path: filled, query: Object.entries(parameters).filter(([name]) => !isInPath({ path }, name)) };
}

/** An operation as a tool of MCP. Its result is `data`, unless said otherwise. */
interface Tool {
  readonly tool: true;
  /** Defaults of parameters that differ from those of REST, with the descriptions that name them. */
  readonly defaults?: Readonly<Record<string, { readonly value: number; readonly description: string }>>;
  /** The same data in fewer tokens. */
  readonly result?: { readonly schema: z.ZodType; readonly of: (data: never) => Record<string, unknown> };
}

/** One REST operation: read by the route, the types, the documents, the playground and the tests. */
export interface Operation<
  P extends Parameters = Parameters,
  Data extends z.ZodType = z.ZodType,
  Method extends "GET" | "POST" = "GET" | "POST",
  Path extends string = string,
  Needs extends Scope | "any" = Scope | "any",
> {
  readonly id: string;
  readonly method: Method;
  /** It may end in `{id}`: the parameter `id` of `query` then stands there, not in the query. */
  readonly path: Path;
  /** The scope that a key needs; `any` when every key may ask. */
  readonly scope: Needs;
  readonly summary: string;
  readonly description: string;
  readonly query: P;
  /** The request body, if the operation takes one. */
  readonly body?: {
    readonly mediaType: string;
    readonly description: string;
    readonly example: string;
    /** One line of it. */
    readonly line: z.ZodType;
    readonly maxLines: number;
    readonly maxBytes: number;
  };
  /** Of the envelope; null where the answer is a file. */
  readonly data: Data;
  /** True if its items are also offered as NDJSON, one in a line. */
  readonly lines?: true;
  /** True if a caller can ask whether its response still holds, by its ETag. */
  readonly revalidated?: true;
  readonly example: z.output<Data>;
  /** The answer is the bytes of a file, of which a range can be asked for; failures have the envelope. */
  readonly file?: {
    readonly mediaType: string;
    readonly description: string;
    /** A good name for it, as in samples. */
    readonly name: string;
  };
  /** Every error this operation can return. */
  readonly errors: readonly ErrorId[];
  /** What requests are counted in: units of the plan (default), or pushed ticks, which have a limit of their own. */
  readonly countedIn?: "ticks";
  /** What one request costs at least. Free requests have a bucket of their own, of the same size. */
  readonly cost: (query: QueryOf<P>) => number;
  /** The same in a sentence, where it depends on the query. */
  readonly costWords?: string;
  /** Whether agents get it as a tool of MCP, and why not. Tools read the market: a GET with the scope `market:read`. */
  readonly mcp: Tool | { readonly tool: false; readonly because: string };
  /** Validates parameters against each other. If it returns an issue, the request is refused with it. */
  readonly check?: (query: QueryOf<P>) => (ParameterIssue & { parameter: string }) | undefined;
}

/** Declares an operation and keeps the types of its parameters, data, method, path and scope. */
export function operation<
  const P extends Parameters,
  Data extends z.ZodType,
  Method extends "GET" | "POST",
  Path extends string,
  Needs extends Scope | "any",
>(definition: Operation<P, Data, Method, Path, Needs>): Operation<P, Data, Method, Path, Needs> {
  return definition;
}
