import { z } from "zod";
import { AssetClass } from "#lib/contract/instrument";
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

/** Compiles permissions for the request path. */
export function readerOf(permissions: Permissions): MayRead {
  switch (permissions.kind) {
    case "all":
      return () => true;
    case "asset_classes": {
      const classes = new Set<string>(permissions.values);
      return (listing) => classes.has(listing.assetClass);
    }
    case "tickers": {
      const tickers = new Set(permissions.values);
      return (listing) => tickers.has(listing.ticker);
    }
  }
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
