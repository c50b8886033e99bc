import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { Quote } from "#lib/contract/quote";
import type { MarketStatus } from "#lib/contract/status";
import type { Calendar, SessionAnswer } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { type Judgement, marketStatus as judge, judgeStatus } from "#lib/domain/status";
import { route } from "#lib/http/route";
import type { Market } from "#lib/market/ports";
import { type Call, type Question, SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";
import { factsOf, judged, type Scene, statusAt } from "#lib/market/status";
import { createListingsFinder } from "#lib/market/tickers";
import { MINUTE_MS } from "#lib/units";
import { marketStatus } from "./declaration";

interface StatusQuery {
  readonly tickers: readonly string[];
  /** Unix milliseconds; undefined for now. */
  readonly at?: number | undefined;
}

/** Tickers of a call that are read from the store in parallel. */
const PARALLEL_READS_COUNT = 8;
/** Of all answers that are kept: some eighty for 50 tickers each. */
const KEPT_MAX_BYTES = 1_048_576;

/** The last encoding of a status, cut off at the value of `updated_at`, its last field. */
interface Encoded extends Judgement {
  readonly session: SessionAnswer;
  readonly provider: string | null;
  readonly head: string;
}

/** Keeps the session of each calendar: the same object for as long as it says the same. */
function createSessions() {
  const kept = new WeakMap<Calendar, { atMs: number; session: SessionAnswer }>();
  return (calendar: Calendar, atMs: number): SessionAnswer => {
    const known = kept.get(calendar);
    if (known?.atMs === atMs) return known.session;
    const now = calendar.sessionAt(atMs);
    const session = known !== undefined && isDeepStrictEqual(known.session, now) ? known.session : now;
    kept.set(calendar, { atMs, session });
    return session;
  };
}

/** Makes the encoder of statuses of now. A status is encoded again only when more than its time has changed. */
function createEncoder() {
  const sessionAt = createSessions();
  const kept = new WeakMap<Listing, Encoded>();

  function headOf({ market, nowMs }: Scene, listing: Listing): string {
    const facts = factsOf(market.view.quote(listing.ticker)?.time_msc ?? null, { market, nowMs }, listing, nowMs, sessionAt);
    const { session, provider } = facts;
    const { data, state, reason } = judgeStatus(facts);
    const known = kept.get(listing);
    const same =
      known?.session === session &&
      known.provider === provider &&
      known.data === data &&
      known.state === state &&
      known.reason === reason;
    if (same) return known.head;
    const { updated_at: _, ...rest } = judge(facts);
    const head = `${JSON.stringify(rest).slice(0, -1)},"updated_at":`;
    kept.set(listing, { session, provider, data, state, reason, head });
    return head;
  }

  return (scene: Scene, listings: readonly Listing[]): string => {
    const tail = `"${new Date(scene.nowMs).toISOString()}"}`;
    return listings.map((listing) => headOf(scene, listing)).join(`${tail},`) + tail;
  };
}

/** What the statuses of a list depend on besides its listings, their calendars and the time. */
interface Facts {
  readonly quotes: readonly (Quote | undefined)[];
  readonly providers: readonly (string | null)[];
}

interface Answer extends Facts {
  readonly listings: readonly Listing[];
  readonly nowMs: number;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Creates the encoder of current statuses. Callers that ask the same in the same millisecond get the same bytes. */
function createAnswers() {
  const encode = createEncoder();
  const kept = new LRUCache<StatusQuery, Answer>({
    maxSize: KEPT_MAX_BYTES,
    sizeCalculation: ({ body }) => body.byteLength,
  });

  function holds({ quotes, providers }: Facts, market: Market, listings: readonly Listing[]): boolean {
    for (const [index, { ticker }] of listings.entries())
      if (market.view.quote(ticker) !== quotes[index] || market.providerOf(ticker) !== providers[index]) return false;
    return true;
  }

  return (call: Call<StatusQuery>, listings: readonly Listing[]): Answer => {
    const { query, market, nowMs } = call;
    const known = kept.get(query);
    if (known?.nowMs === nowMs && known.listings === listings && holds(known, market, listings)) return known;
    const answer = {
      listings,
      quotes: listings.map(({ ticker }) => market.view.quote(ticker)),
      providers: listings.map(({ ticker }) => market.providerOf(ticker)),
      nowMs,
      body: Buffer.from(`${SUCCESS_HEAD}{"items":[${encode(call, listings)}]}${SUCCESS_TAIL}`),
    };
    kept.set(query, answer);
    return answer;
  };
}

/**
 * The market status of each ticker, now or at an instant. In the past, the data state comes from the stored minutes; in the
 * future, only the calendar counts.
 * @throws Fault unknown_ticker
 */
function createMarketStatus(): Question<StatusQuery> {
  const listingsOf = createListingsFinder();
  const answerOf = createAnswers();
  return (call) => {
    const listings = listingsOf(call, call.query.tickers, "tickers");
    const { at } = call.query;
    if (at === undefined) return answerOf(call, listings);
    if (at > call.nowMs) return { data: { items: listings.map((listing) => statusAt(call, listing, at)) } };
    return statusesBefore(call, listings, at).then((items) => ({ data: { items } }));
  };
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

async function statusBefore(scene: Scene, listing: Listing, atMs: number): Promise<MarketStatus> {
  return judged(await lastTickBefore(scene, listing.ticker, atMs), scene, listing, atMs);
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

export const handler = route(marketStatus, createMarketStatus());
