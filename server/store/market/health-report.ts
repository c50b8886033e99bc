import type { Clock } from "#lib/clock";
import { VENUES, type Venue } from "#lib/contract/primitives";
import {
  CALENDAR_STRIP_DAYS,
  CALENDAR_STRIP_MAX_SESSIONS,
  type CalendarGroup,
  type ServiceStatus,
  type VenueStatus,
} from "#lib/contract/service-status";
import { compileCalendar } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import type { Logger } from "#lib/log";
import { toldSessions } from "#lib/market/calendar-preview";
import type { NodeSources } from "#lib/market/node-report";
import type { Market } from "#lib/market/ports";
import { lastTickOf, statusAt } from "#lib/market/status";
import { type ServiceFacts, serviceState } from "#lib/service-state";
import { DAY_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { readHealth } from "./health-history";
import { listNodes } from "./node-reports";

/** History changes once a minute: requests within this time share one read of the database. */
const HISTORY_FRESH_MS = 5_000;
/** States change by the second. */
const STATES_FRESH_MS = 1_000;

/** The parts of a running process that the report is made from. */
export interface HealthSources extends Pick<NodeSources, "ready"> {
  readonly markets: Readonly<Record<Venue, Market>>;
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The sessions around now that a week strip needs, whatever the reader's time zone. */
function sessionsAround(market: Market, listing: Listing, nowMs: number): Pick<CalendarGroup, "sessions" | "sessions_count"> {
  const fromMs = nowMs - (nowMs % DAY_MS) - DAY_MS;
  const toMs = fromMs + CALENDAR_STRIP_DAYS * DAY_MS;
  const calendar = market.catalogue.calendar(listing.ticker);
  const ranges = calendar?.sessionsBetween(fromMs, toMs) ?? null;
  if (!calendar || ranges === null) return { sessions: null, sessions_count: null };
  if (ranges.length > CALENDAR_STRIP_MAX_SESSIONS) return { sessions: [], sessions_count: ranges.length };
  return { sessions: toldSessions(calendar, ranges, fromMs, toMs), sessions_count: ranges.length };
}

function groupOf(market: Market, listings: readonly [Listing, ...Listing[]], nowMs: number): CalendarGroup {
  const [first] = listings;
  const session = (market.catalogue.calendar(first.ticker) ?? compileCalendar(undefined, [])).sessionAt(nowMs);
  return {
    calendar: first.calendar,
    asset_class: first.assetClass,
    calendar_state: session.state,
    reason: session.reason,
    next_open_ms: session.nextOpen,
    next_close_ms: session.nextClose,
    ...sessionsAround(market, first, nowMs),
    instruments: listings.map((listing) => {
      if (market.provider === null) return { ticker: listing.ticker, state: "not_bound", reason: null };
      const { final_display_state: state, reason } = statusAt({ market, nowMs }, listing);
      return { ticker: listing.ticker, state, reason };
    }),
  };
}

function venueOf(market: Market, wallMs: number): VenueStatus {
  const nowMs = market.timeAt(wallMs);
  const groups = new Map<string, [Listing, ...Listing[]]>();
  for (const listing of market.catalogue.list()) {
    const name = `${listing.assetClass} ${listing.calendar}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [listing]);
    else group.push(listing);
  }
  const lastMs = lastTickOf(market);
  return {
    venue: market.venue,
    provider: market.provider,
    last_tick_ms: lastMs,
    lag_ms: lastMs === null ? null : Math.max(0, wallMs - lastMs),
    groups: [...groups.values()].map((listings) => groupOf(market, listings, nowMs)),
  };
}

/** Caches the result of `make` for `freshMs`; callers within that time share it. */
function kept<Value>(freshMs: number, make: (sources: HealthSources) => Value): (sources: HealthSources) => Value {
  let last: { readonly atMs: number; readonly value: Value } | undefined;
  return (sources) => {
    const nowMs = sources.clock.now();
    if (last === undefined || nowMs - last.atMs >= freshMs || nowMs < last.atMs) last = { atMs: nowMs, value: make(sources) };
    return last.value;
  };
}

/** The names of the checks that degrade the service. */
const failingIn = (facts: ServiceFacts) =>
  serviceState(facts).checks.flatMap(({ name, impact }) => (impact === null || impact === "warning" ? [] : [name]));

/** Makes a process's health report. It is public, so it is cached: its cost does not grow with the number of requests. */
export function createHealthReport(): (sources: HealthSources) => Promise<ServiceStatus> {
  const states = kept(STATES_FRESH_MS, ({ markets, clock }) => {
    const at_ms = clock.now();
    return { at_ms, venues: VENUES.map((venue) => venueOf(markets[venue], at_ms)) };
  });
  const health = kept(HISTORY_FRESH_MS, async ({ db, clock, log, ready }) => {
    const atMs = clock.now();
    try {
      const [found, nodes] = await Promise.all([readHealth(db.pool, atMs), listNodes(db.pool)]);
      return { ...found, failing: failingIn({ atMs, nodes }) };
    } catch (error) {
      log.warn({ err: error }, "cannot read health history; reporting without it");
      return { history: null, incidents: null, checked: null, failing: failingIn({ atMs, parts: (await ready()).checks }) };
    }
  });
  return async (sources) => ({ ...states(sources), ...(await health(sources)) });
}
