import type { Venue } from "#lib/contract/primitives";

/** One of the reader's own keys, without its text. */
export interface OwnKey {
  readonly id: string;
  readonly name: string;
  readonly venue: Venue;
  readonly scopes: readonly string[];
  /** Its first and last characters. */
  readonly hint: string;
}

/** The credential of calls: the public demo key, or a short-lived token for one of the reader's own keys. */
export type Credential = { readonly kind: "demo"; readonly key: string } | { readonly kind: "own"; readonly key: OwnKey };

/** The credential of pages that only use the demo key; undefined when it is disabled. */
export function demoCredential(demoKey: string | undefined): Credential | undefined {
  return demoKey === undefined ? undefined : { kind: "demo", key: demoKey };
}
