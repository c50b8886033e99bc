import type { Scope, StreamName } from "#lib/contract/primitives";

/** The kind of input of a parameter. */
export type FieldKind = "ticker" | "tickers" | "choice" | "seconds" | "instant" | "number" | "text";

/** One parameter of an operation, as the form shows it. */
export interface PlayField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly description: string;
  /** An example value. */
  readonly example: string;
  /** The options; only for `choice`. */
  readonly choices?: readonly string[];
}

interface PlayBase {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope | "any";
  /** Its page in the docs. */
  readonly docs: string;
  readonly fields: readonly PlayField[];
}

/** A REST operation of the playground. */
export interface RestOperation extends PlayBase {
  readonly method: "GET" | "POST";
  /** A response. */
  readonly example: unknown;
}

/** A stream of the playground. */
export interface StreamOperation extends PlayBase {
  readonly method: "STREAM";
  readonly stream: StreamName;
  /** Socket.IO namespace with the same messages. */
  readonly namespace: string;
  /** Where a page gets the ticket for a connection. */
  readonly ticketPath: string;
}

export type PlayOperation = RestOperation | StreamOperation;

/** The form's values by parameter, as query texts. */
export type Values = Readonly<Record<string, string>>;

/** The errors of the form, by parameter, in the service's own words. */
export type Issues = Readonly<Record<string, string>>;

/** What a call with the form's values would meet. */
export interface Checked {
  readonly issues: Issues;
  /** Units of the rate limit that it costs; absent for a stream, and with issues. */
  readonly units?: number;
}

/** The initial state of a page: an operation, its values, what they would meet, and notices about a link. */
export interface Start {
  readonly operationId: string;
  readonly values: Values;
  readonly checked: Checked;
  /** One sentence each. */
  readonly notices: readonly string[];
}

/** Name of the query parameter of a share link that names the operation. */
export const OPERATION_PARAMETER = "op";
