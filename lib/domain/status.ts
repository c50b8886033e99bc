import type { FinalDisplayState, MarketDataState, MarketStatus, StatusReason } from "#lib/contract/status";
import { SECOND_MS } from "#lib/units";
import type { SessionAnswer } from "./calendar";
import type { Listing } from "./instrument";

/** ISO 8601 has four digits for a year: a later instant cannot be represented in an answer. */
const YEAR_10000_MS = 253_402_300_800_000;

/** All that a status depends on. Instants are Unix milliseconds. */
export interface StatusFacts {
  readonly listing: Pick<Listing, "ticker" | "staleAfterS" | "openGraceS">;
  /** The state of the instrument's calendar at `atMs`. */
  readonly session: SessionAnswer;
  /** The last tick known at `atMs`, null when none was ever held. */
  readonly lastTickMs: number | null;
  readonly atMs: number;
  /** Slug of the bound provider, null without one. */
  readonly provider: string | null;
  /** False where the feed is known not to bring the instrument. */
  readonly offered: boolean;
  /** `atMs` is in the future: only the calendar counts. */
  readonly projected: boolean;
  /** When this status is generated. */
  readonly updatedAtMs: number;
}

/** What a judgement depends on. */
type Judged = Omit<StatusFacts, "provider" | "updatedAtMs">;

interface Display {
  readonly state: FinalDisplayState;
  readonly reason: StatusReason | null;
}

/** missing when no tick was ever held, live up to `staleAfterS` (included), stale past it; also while closed. */
export function marketDataState(lastTickMs: number | null, atMs: number, staleAfterS: number): MarketDataState {
  if (lastTickMs === null) return "missing";
  return atMs - lastTickMs <= staleAfterS * SECOND_MS ? "live" : "stale";
}

/** A closed market: its calendar's reason, unless fresh ticks of this very closure contradict it. */
function whileClosed({ session, lastTickMs }: Judged, data: MarketDataState): Display {
  const since = session.closedAt ?? Number.NEGATIVE_INFINITY;
  const stillTicking = data === "live" && lastTickMs !== null && lastTickMs >= since;
  return { state: "closed", reason: stillTicking ? "ticks_while_closed" : session.reason };
}

/** An open market: needs a fresh tick of this session; without one, it waits for the grace period after the open. */
function whileOpen({ listing, session, lastTickMs, atMs }: Judged, data: MarketDataState): Display {
  const since = session.openedAt ?? Number.NEGATIVE_INFINITY;
  if (lastTickMs !== null && lastTickMs >= since) {
    if (data === "live") return { state: "open", reason: null };
    return { state: "open_data_stale", reason: "quote_older_than_threshold" };
  }
  if (atMs - since <= listing.openGraceS * SECOND_MS) return { state: "open", reason: "awaiting_first_quote" };
  return { state: lastTickMs === null ? "open_data_missing" : "late_open_data_stale", reason: "no_quote_since_open" };
}

function displayOf(facts: Judged, data: MarketDataState): Display {
  if (facts.projected) return { state: facts.session.state, reason: "projected" };
  // Whatever the calendar says: no quote comes when the market opens, and that none comes is no fault.
  if (!facts.offered) return { state: "not_offered", reason: "not_offered" };
  switch (facts.session.state) {
    case "unknown":
      return { state: "unknown", reason: facts.session.reason };
    case "closed":
      return whileClosed(facts, data);
    case "open":
      return whileOpen(facts, data);
  }
}

function isoInstant(atMs: number | null): string | null {
  return atMs === null || atMs >= YEAR_10000_MS ? null : new Date(atMs).toISOString();
}

/** What a status says beyond its calendar. */
export interface Judgement extends Display {
  readonly data: MarketDataState;
}

/**
 * Judges the state of an instrument. Every combination of calendar, last tick and instant has an answer.
 * Edges are exact: open at the instant of the open, closed at that of the close; a tick as old as `staleAfterS` is still
 * live, and `openGraceS` after the open the first quote is still awaited. In a session without a start (always open)
 * any tick counts and no grace does.
 */
export function judgeStatus(facts: Judged): Judgement {
  const { listing, lastTickMs, atMs, projected } = facts;
  const data = projected ? "missing" : marketDataState(lastTickMs, atMs, listing.staleAfterS);
  const { state, reason } = displayOf(facts, data);
  return { data, state, reason };
}

/** The market status of an instrument as `judgeStatus` judges it. */
export function marketStatus(facts: StatusFacts): MarketStatus {
  const { listing, session, provider, updatedAtMs } = facts;
  const { data, state, reason } = judgeStatus(facts);
  return {
    ticker: listing.ticker,
    calendar_state: session.state,
    market_data_state: data,
    final_display_state: state,
    next_open_at: isoInstant(session.nextOpen),
    next_close_at: isoInstant(session.nextClose),
    reason,
    calendar_source: session.source,
    provider_source: provider,
    updated_at: new Date(updatedAtMs).toISOString(),
  };
}
