import { HOURS_DEFAULT_DAYS, HOURS_SESSIONS_MAX_COUNT } from "#lib/contract/limits";
import type { QueryOf } from "#lib/contract/operation";
import type { Calendar } from "#lib/domain/calendar";
import { Fault } from "#lib/fault";
import { route } from "#lib/http/route";
import type { Call, DataReply } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { DAY_S, SECOND_MS } from "#lib/units";
import { marketHours, rangeIssue, type TradingHours } from "./declaration";

type Session = TradingHours["sessions"][number];

/** Adds the sessions of a day; false when the calendar does not know them. A session that goes on over midnight is one. */
function addDay(sessions: Session[], calendar: Calendar, from: number, to: number): boolean {
  const found = calendar.sessionsBetween(from * SECOND_MS, to * SECOND_MS);
  if (found === null) return false;
  for (const { openMs, closeMs } of found) {
    const session = { from: Math.ceil(openMs / SECOND_MS), to: Math.ceil(closeMs / SECOND_MS) };
    const last = sessions.at(-1);
    if (last?.to === session.from) last.to = session.to;
    else sessions.push(session);
  }
  return true;
}

/**
 * The sessions of a ticker in a range, read day by day, so that the answer can end where the calendar does, or where it is long enough.
 * @throws Fault unknown_ticker, or invalid_range for a range that is empty or too long
 */
function hoursOf(call: Call<QueryOf<typeof marketHours.query>>): DataReply {
  const { ticker } = call.query;
  requireListings(call, [ticker], "ticker");
  const from = call.query.from ?? Math.floor(call.nowMs / SECOND_MS);
  const end = call.query.to ?? from + HOURS_DEFAULT_DAYS * DAY_S;
  const issue = rangeIssue(from, end);
  if (issue !== undefined) throw new Fault("invalid_range", issue);
  const calendar = call.market.catalogue.calendar(ticker);
  const sessions: Session[] = [];
  let to = from;
  while (calendar !== undefined && to < end) {
    const next = Math.min(end, to + DAY_S);
    if (!addDay(sessions, calendar, to, next)) break;
    to = next;
    if (sessions.length < HOURS_SESSIONS_MAX_COUNT) continue;
    // The next answer begins where the last session of this one ends.
    sessions.length = HOURS_SESSIONS_MAX_COUNT;
    to = Math.min(to, sessions.at(-1)?.to ?? to);
    break;
  }
  return { data: { ticker, from, to, sessions } satisfies TradingHours };
}

export const handler = route(marketHours, hoursOf);
