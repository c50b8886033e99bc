import type { Kline } from "#lib/contract/kline";
import type { Quote } from "#lib/contract/quote";
import type { Snapshot } from "#lib/contract/snapshot";

/**
 * One change of market truth. The engine alone makes them; the bus carries them, the view shows them, the recorder
 * stores them. `record` is the wire record and is never changed after it was published.
 */
export type MarketEvent =
  | { readonly type: "quote"; readonly record: Quote }
  | { readonly type: "snapshot"; readonly record: Snapshot }
  | { readonly type: "kline"; readonly record: Kline; readonly closed: boolean };
