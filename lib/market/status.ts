import type { MarketStatus } from "#lib/contract/status";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { marketStatus as judge } from "#lib/domain/status";
import { MINUTE_MS } from "#lib/units";
import type { Call, DataReply } from "./question";
import { requireListings } from "./tickers";

interface StatusQuery {
  readonly tickers: readonly string[];
  /** Unix milliseconds; undefined for now. */
  readonly at?: number | undefined;
}

type Scene = Pick<Call<unknown>, "market" | "nowMs" | "admitDays">;

/** Tickers of a call that are read from the store in parallel. */
const PARALLEL_READS_COUNT = 8;

/**
 * The market status of each ticker, now or at an instant. In the past, the data state comes from the stored minutes; in the
 * future, only the calendar counts.
 * @throws Fault unknown_ticker
 */
export function marketStatus(call: Call<StatusQuery>): DataReply | Promise<DataReply> {
  const listings = requireListings(call, call.query.tickers, "tickers");
  const { at } = call.query;
  if (at === undefined || at > call.nowMs) return { data: { items: listings.map((listing) => statusAt(call, listing, at)) } };
  return statusesBefore(call, listings, at).then((items) => ({ data: { items } }));
}

/** A few at a time, so that one call does not occupy the whole store. */
async function statusesBefore(call: Call<StatusQuery>, listings: readonly Listing[], atMs: number): Promise<MarketStatus[]> {
  const items: MarketStatus[] = [];
  for (let index = 0; index < listings.length; index += PARALLEL_READS_COUNT) {
    const some = listings.slice(index, index + PARALLEL_READS_COUNT);
    items.push(...(await Promise.all(some.map((listing) => statusBefore(call, listing, atMs)))));
  }
  return items;
}

/** The status of one instrument now, or at a future instant; the landing page shows it too. */
export function statusAt({ market, nowMs }: Scene, listing: Listing, atMs: number = nowMs): MarketStatus {
  return judged(market.view.quote(listing.ticker)?.time_msc ?? null, { market, nowMs }, listing, atMs);
}

async function statusBefore(scene: Scene, listing: Listing, atMs: number): Promise<MarketStatus> {
  return judged(await lastTickBefore(scene, listing.ticker, atMs), scene, listing, atMs);
}

function judged(lastTickMs: number | null, { market, nowMs }: Scene, listing: Listing, atMs: number): MarketStatus {
  const calendar: Calendar = market.catalogue.calendar(listing.ticker) ?? compileCalendar(undefined, []);
  return judge({
    listing,
    session: calendar.sessionAt(atMs),
    lastTickMs,
    atMs,
    provider: market.providerOf === undefined ? market.provider : market.providerOf(listing.ticker),
    projected: atMs > nowMs,
    updatedAtMs: nowMs,
  });
}

/** The last tick before an instant, estimated from the minutes: a minute's last tick may have come as late as its end. */
async function lastTickBefore({ market, admitDays }: Scene, ticker: string, atMs: number): Promise<number | null> {
  const quoteMs = market.view.quote(ticker)?.time_msc;
  if (quoteMs !== undefined && quoteMs <= atMs) return quoteMs;
  const to = Math.floor(atMs / 1000) + 1;
  // Minutes that are not written yet are in the view.
  const held = market.view.recentKlines(ticker, "M1").findLast(({ time }) => time < to);
  const [stored] = await market.store.read({ ticker, timeframe: "M1", from: 0, to, limit: 1, end: "newest", admitDays });
  const minute = Math.max(held?.time ?? -1, stored?.time ?? -1);
  return minute < 0 ? null : Math.min(atMs, minute * 1000 + MINUTE_MS - 1);
}
