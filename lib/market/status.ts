import type { MarketStatus } from "#lib/contract/status";
import { type Calendar, compileCalendar, type SessionAnswer } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { marketStatus as judge, type StatusFacts } from "#lib/domain/status";
import { feedState, isTest, type ServiceFacts } from "#lib/service-state";
import { SECOND_MS } from "#lib/units";
import type { Market } from "./ports";
import type { Call } from "./question";

/** The market that a status is about, and the time of the request. */
export type Scene = Pick<Call<unknown>, "market" | "nowMs" | "admitDays">;

/** For an instrument whose calendar is missing. */
const NO_CALENDAR = compileCalendar(undefined, []);

/** The status of one instrument now, or at a future instant; the landing page shows it too. */
export function statusAt({ market, nowMs }: Scene, listing: Listing, atMs: number = nowMs): MarketStatus {
  return judged(market.view.quote(listing.ticker)?.time_msc ?? null, { market, nowMs }, listing, atMs);
}

/** The status of an instrument at an instant, where its last tick is known; null for none. */
export function judged(lastTickMs: number | null, scene: Scene, listing: Listing, atMs: number): MarketStatus {
  return judge(factsOf(lastTickMs, scene, listing, atMs, (calendar) => calendar.sessionAt(atMs)));
}

/** What the status of an instrument at an instant follows from. @param sessionAt reads the calendar; a caller may keep what it read */
export function factsOf(
  lastTickMs: number | null,
  { market, nowMs }: Scene,
  listing: Listing,
  atMs: number,
  sessionAt: (calendar: Calendar, atMs: number) => SessionAnswer,
): StatusFacts {
  return {
    listing,
    session: sessionAt(market.catalogue.calendar(listing.ticker) ?? NO_CALENDAR, atMs),
    lastTickMs,
    atMs,
    provider: market.providerOf(listing.ticker),
    // What is offered now says nothing of the past.
    offered: atMs < nowMs || market.isOffered(listing.ticker),
    projected: atMs > nowMs,
    updatedAtMs: nowMs,
  };
}

/** The listed tickers that the feed of a venue is known not to bring. */
export function unofferedOf({ catalogue, isOffered }: Pick<Market, "catalogue" | "isOffered">): string[] {
  return catalogue.list().flatMap(({ ticker }) => (isOffered(ticker) ? [] : [ticker]));
}

/** A venue with the states of its instruments now, each in a group of its own. */
export function venueStates(market: Market, wallMs: number): NonNullable<ServiceFacts["venues"]>[number] {
  const scene = { market, nowMs: market.timeAt(wallMs) };
  const groups = market.catalogue.list().map((listing) => {
    const { final_display_state: state, reason } = statusAt(scene, listing);
    return { asset_class: listing.assetClass, instruments: [{ ticker: listing.ticker, state, reason }] };
  });
  return { venue: market.venue, provider: market.provider, last_tick_ms: lastTickOf(market), groups };
}

/** Unix milliseconds of the newest tick of a venue, null before the first. */
export function lastTickOf({ catalogue, view }: Market): number | null {
  const times = catalogue.list().flatMap(({ ticker }) => view.quote(ticker)?.time_msc ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * Since when a venue has had no fresh price although a market is open: its newest tick, or the next opening where no market was open long enough
 * after it to miss another one. Unix milliseconds; null while it has a fresh price, or never had one.
 */
export function quietSince(market: Market, wallMs: number): number | null {
  const { catalogue, isOffered, timeAt } = market;
  const venue = venueStates(market, wallMs);
  const { expected, late } = feedState(venue);
  const lastMs = venue.last_tick_ms;
  if (lastMs === null || expected.length === 0 || late.length < expected.length) return null;
  const missed = catalogue.list().flatMap(({ ticker, assetClass, staleAfterS }) => {
    if (isTest({ asset_class: assetClass }) || !isOffered(ticker)) return [];
    const session = catalogue.calendar(ticker)?.sessionAt(lastMs + staleAfterS * SECOND_MS);
    return session?.state === "open" ? lastMs : (session?.nextOpen ?? []);
  });
  const nowMs = timeAt(wallMs);
  return wallMs - (nowMs - Math.min(nowMs, ...missed));
}
