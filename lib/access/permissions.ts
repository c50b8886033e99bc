import { z } from "zod";
import { AssetClass } from "#lib/contract/instrument";
import type { ReadableInstruments } from "#lib/contract/portal-admin";
import { Ticker } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";

/** Instruments one account's permissions may name. */
const TICKERS_MAX_COUNT = 10_000;

/** The instruments an account may read; its keys inherit them. */
export const Permissions = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("all") }),
  z.object({ kind: z.literal("asset_classes"), values: z.array(AssetClass) }),
  z.object({ kind: z.literal("tickers"), values: z.array(Ticker).max(TICKERS_MAX_COUNT) }),
]);
export type Permissions = z.infer<typeof Permissions>;

/** Says whether a listing is among the permitted ones. */
export type MayRead = (listing: Pick<Listing, "ticker" | "assetClass">) => boolean;

/** The values that all of these lists have; null, which bounds nothing, without any list. */
function common([first, ...others]: readonly (readonly string[])[]): readonly string[] | null {
  const sets = others.map((values) => new Set(values));
  return first?.filter((value) => sets.every((values) => values.has(value))) ?? null;
}

/** The instruments that several permissions allow together, as those of an account and of its plan. */
export function readsOf(...all: readonly Permissions[]): ReadableInstruments {
  return {
    asset_classes: common(all.flatMap((one) => (one.kind === "asset_classes" ? [one.values] : []))),
    tickers: common(all.flatMap((one) => (one.kind === "tickers" ? [one.values] : []))),
  };
}

/** Compiles what may be read for the request path. */
export function readerOf({ asset_classes, tickers }: ReadableInstruments): MayRead {
  const [classes, names] = [asset_classes && new Set(asset_classes), tickers && new Set(tickers)];
  return (listing) => (classes?.has(listing.assetClass) ?? true) && (names?.has(listing.ticker) ?? true);
}

/** Permissions as the database has them; what cannot be understood permits nothing. */
export function parsePermissions(stored: unknown): Permissions {
  const parsed = Permissions.safeParse(stored);
  return parsed.success ? parsed.data : { kind: "tickers", values: [] };
}

/** Compiles the tickers of a key for the request path. Without any, every ticker is allowed. */
export function tickerFilter(tickers: readonly string[]): (ticker: string) => boolean {
  if (tickers.length === 0) return () => true;
  const allowed = new Set(tickers);
  return (ticker) => allowed.has(ticker);
}
