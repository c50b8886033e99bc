import type { Scope, StreamName, Venue } from "#lib/contract/primitives";

/** How a parameter is asked for. */
export type FieldKind = "ticker" | "tickers" | "choice" | "seconds" | "instant" | "number" | "text";

/** One parameter of an operation as the form shows it. */
export interface PlayField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  readonly description: string;
  /** A value that works. */
  readonly example: string;
  /** What there is to choose from; of `choice` alone. */
  readonly choices?: readonly string[];
}

interface PlayBase {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope;
  readonly fields: readonly PlayField[];
}

/** A REST operation that can be tried. */
export interface RestOperation extends PlayBase {
  readonly method: "GET" | "POST";
}

/** A stream that can be tried. */
export interface StreamOperation extends PlayBase {
  readonly method: "STREAM";
  readonly stream: StreamName;
  /** Socket.IO namespace of the same messages. */
  readonly namespace: string;
  /** Where a page gets the ticket that opens a connection. */
  readonly ticketPath: string;
}

export type PlayOperation = RestOperation | StreamOperation;

/** The form's values by parameter, as query texts. */
export type Values = Readonly<Record<string, string>>;

/** What is wrong with the form, by parameter, in the service's own words. */
export type Issues = Readonly<Record<string, string>>;

/** One of the reader's own keys, without its text. */
export interface OwnKey {
  readonly id: string;
  readonly name: string;
  readonly venue: Venue;
  readonly scopes: readonly string[];
  /** Its first and last characters. */
  readonly hint: string;
}

/** What a page begins with: an operation, its values, what is wrong with them, and what of a link was not understood. */
export interface Start {
  readonly operationId: string;
  readonly values: Values;
  readonly issues: Issues;
  /** A sentence each. */
  readonly notices: readonly string[];
}

/** Name of the query parameter of a share link that names the operation. */
export const OPERATION_PARAMETER = "op";

/** What calls are made with: the public demo key, or a short-lived token for one of the reader's own keys. */
export type Credential = { readonly kind: "demo"; readonly key: string } | { readonly kind: "own"; readonly key: OwnKey };
