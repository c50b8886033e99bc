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

/**
 * The credential of calls: the public demo key, a short-lived token for one of the reader's own keys, or one of the page, which
 * takes nothing from the demo key of the reader's address. Pages of the live venue show what a key of the reader may read, and
 * take nothing from it.
 */
export type Credential =
  | { readonly kind: "demo"; readonly key: string }
  | { readonly kind: "own"; readonly key: OwnKey }
  | { readonly kind: "page" }
  | { readonly kind: "live_page"; readonly key: OwnKey };

/** The credential with which pages show the sandbox. */
export const PAGE_CREDENTIAL: Credential = { kind: "page" };
