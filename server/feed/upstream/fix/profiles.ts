import type { Listing } from "#lib/domain/instrument";
import type { Field } from "./codec";

/** How venues differ. Everything else is FIX 4.4. */
export interface Profile {
  /** How a request names an instrument; the symbol is added. */
  readonly instrument: { readonly tag: 48 | 55; readonly more: readonly Field[] };
  /** names: as symbolOf writes them; list: by the number that SecurityList (y) gives for a name. */
  readonly symbols: "names" | "list";
  symbolOf(listing: Pick<Listing, "ticker" | "base" | "quote">): string;
  /** MarketDepth (264): 1 is the best price alone. */
  readonly depth: "0" | "1";
  /** MDUpdateType (265): 0 full, 1 incremental. */
  readonly updates: "0" | "1";
  /** Instruments in one MarketDataRequest. */
  readonly requestMaxSymbols: number;
  /** SenderSubID (50) and TargetSubID (57), where the settings have none. */
  readonly senderSub?: string;
  readonly targetSub?: string;
  /** What a size of 0 means: that the price is gone, or that sizes are not given. */
  readonly zeroSize: "gone" | "unknown";
  /** False where the times of entries have whole seconds, written with milliseconds. */
  readonly entryTimes: boolean;
}

const slashed: Profile["symbolOf"] = ({ base, quote }) => `${base}/${quote}`;

const generic: Profile = {
  instrument: { tag: 55, more: [] },
  symbols: "names",
  symbolOf: slashed,
  depth: "1",
  updates: "1",
  requestMaxSymbols: 50,
  zeroSize: "gone",
  entryTimes: true,
};

export const PROFILES = {
  generic,
  /** help.ctrader.com/fix/specification: symbols are numbers, one in a request, and a depth of 1 gives snapshots alone. */
  ctrader: { ...generic, symbols: "list", requestMaxSymbols: 1, senderSub: "QUOTE", targetSub: "QUOTE" },
  /** fxcm/FIXAPI, Core_Concepts.md: full snapshots, sizes of 0, and times of entries in whole seconds. */
  fxcm: { ...generic, updates: "0", zeroSize: "unknown", entryTimes: false },
  /** Instruments have numbers of the venue (22=8); name them with FEED_SYMBOLS. */
  lmax: { ...generic, instrument: { tag: 48, more: [[22, "8"]] }, updates: "0", requestMaxSymbols: 1 },
} as const satisfies Readonly<Record<string, Profile>>;
