import type { KlineRejection, Replace } from "#lib/contract/ingest-klines";

/** Who mends: a key that pushes klines, or a repair that began an import of this number. */
type MendedBy = { readonly keyId: string; readonly label: string } | { readonly number: number };

/** How minutes are stored after the fact. */
export interface Mending {
  readonly replace: Replace;
  readonly by: MendedBy;
}

/** Why a minute was not stored; null when it was. */
export type MendOutcome = Extract<KlineRejection, "duplicate" | "stored" | "watched" | "corrected"> | null;

/** What became of minutes that were to be mended. */
export interface Mended {
  /** One for each kline, in their order. */
  readonly outcomes: readonly MendOutcome[];
  /** Number of the import that they became part of; null if none was stored. */
  readonly number: number | null;
  /** The first and the last stored minute of each ticker: open times in Unix seconds. */
  readonly changed: readonly { readonly ticker: string; readonly first: number; readonly last: number }[];
}

/** Who pushes klines, and how. */
export interface KlinePush {
  readonly replace: Replace;
  /** The only tickers that the key may push; none: all. */
  readonly tickers: readonly string[];
  readonly keyId: string;
  /** The key as operators know it. */
  readonly label: string;
}
