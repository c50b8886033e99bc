import type { FilterReason } from "#lib/contract/ingest";
import type { AssetClass } from "#lib/contract/instrument";
import type { Calendar, SessionAnswer } from "#lib/domain/calendar";
import type { Listing } from "#lib/domain/instrument";
import { PRICES_MAX_FACTOR } from "#lib/domain/price";
import { judgePlausible, type PriceRange, plausibleRange } from "#lib/domain/price-ranges";
import type { Tick } from "#lib/domain/tick";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import { createMedianWindow, type MedianWindow } from "./median";

/** A price is compared with the median of so many before it. */
const MIDS_COUNT = 64;
/** A median stands for this many ticks after it, as long as they are near it. */
const NEAR_COUNT = 32;
/** From so many on, the median is a level that three ticks cannot replace with any other. */
const LEVEL_COUNT = 16;
/** A price may be further from the median than this share of it only where the ticker usually moves that much. */
const BAND_SHARES: Readonly<Record<AssetClass, number>> = { forex: 0.003, metals: 0.01, test: 0.01 };
/** A price may be away by so many times the usual change from tick to tick. */
const BAND_CHANGES = 40;
/** Prices jump at an open. */
const AFTER_OPEN_MS = MINUTE_MS;
/** A jump is believed when so many ticks agree; ticks that came within HELD_MAX_MS are let through with the last of them. */
const AGREE_COUNT = 3;
const HELD_MAX_MS = SECOND_MS;
/** A spread is wide from so many times the median of the last hour's, of which one a minute is kept. */
const WIDE_FACTOR = 20;
const SPREADS_COUNT = 60;
const SPREADS_MIN_COUNT = 5;
/** A calendar without a known end of its state is asked again after this. */
const ASK_AGAIN_MS = MINUTE_MS;

/** A tick that is further away than it should be. */
interface Suspect {
  readonly tick: Tick;
  readonly untilMs: number;
  /** Still held, so it may be let through. */
  held: boolean;
}

/** A session or closure, as long as its calendar is the same. */
interface KnownSession {
  readonly calendar: Calendar;
  readonly answer: SessionAnswer;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface TickerState {
  /** What prices of its pair can be; null where that is not known. */
  readonly range: PriceRange | null;
  readonly mids: MedianWindow;
  readonly changes: MedianWindow;
  readonly spreads: MedianWindow;
  /** A recent median of the mids, and for how many more ticks it may stand for the newest one. */
  near: number;
  nearLeft: number;
  /** From here a spread is wide. */
  wideSpread: number;
  readonly bandShare: number;
  lastMid: number;
  spreadMinute: number;
  /** The last median of at least LEVEL_COUNT mids; NaN before. */
  level: number;
  suspects: Suspect[];
  session: KnownSession | undefined;
}

interface TickFilterOptions {
  readonly listingOf: (ticker: string) => Listing | undefined;
  readonly calendarOf: (ticker: string) => Calendar | undefined;
  /** The newest quote from before this filter began, or what is stored of the ticker. */
  readonly quoteOf: (ticker: string) => Pick<Tick, "bid" | "ask"> | undefined;
  /** Reasons that do not count. */
  readonly off: ReadonlySet<FilterReason>;
  /** Called for each tick that is kept out for good. */
  readonly heldBack: (tick: Tick, reason: FilterReason, nowMs: number) => void;
  /** Called for each tick whose spread is unusually wide; it is let through. */
  readonly wide: (tick: Tick) => void;
}

/** Keeps ticks out that are well-formed and cannot be true. Instants are Unix milliseconds. */
export interface TickFilter {
  /**
   * Judges a tick that the engine would accept. Null lets it through, after those that `released` returns.
   * `spike` may be lifted: the tick is held for up to a second, and let through if the next ones agree with it.
   */
  judge(tick: Tick, nowMs: number): FilterReason | null;
  /** True where the last judgement holds its tick; false where it is a repetition of one that is held. */
  holds(): boolean;
  /** The ticks that the last judgement let through besides its own, in order. */
  released(): readonly Tick[];
  /** Gives up ticks that have been held for too long. */
  expire(nowMs: number): void;
}

const NONE: readonly Tick[] = [];
const midOf = ({ bid, ask }: Pick<Tick, "bid" | "ask">) => (bid + ask) / 2;

const isSame = (one: Tick, other: Tick) => one.time_msc === other.time_msc && one.bid === other.bid && one.ask === other.ask;

function newState(listing: Listing | undefined): TickerState {
  const bandShare = BAND_SHARES[listing?.assetClass ?? "metals"];
  return {
    range: listing === undefined ? null : plausibleRange(listing.base, listing.quote),
    mids: createMedianWindow(MIDS_COUNT),
    changes: createMedianWindow(MIDS_COUNT),
    spreads: createMedianWindow(SPREADS_COUNT),
    near: Number.NaN,
    nearLeft: 0,
    wideSpread: Number.POSITIVE_INFINITY,
    bandShare,
    lastMid: Number.NaN,
    spreadMinute: 0,
    level: Number.NaN,
    suspects: [],
    session: undefined,
  };
}

/** Takes a mid as a true one. */
function learn(state: TickerState, mid: number): void {
  if (!Number.isNaN(state.lastMid)) state.changes.add(Math.abs(mid - state.lastMid));
  state.lastMid = mid;
  state.mids.add(mid);
}

/** How far a price may be from `median`. */
function bandOf({ changes, bandShare }: TickerState, median: number): number {
  return Math.max(bandShare * median, changes.size() === 0 ? 0 : BAND_CHANGES * changes.median());
}

function levelOf({ mids, level }: TickerState): number {
  return mids.size() >= LEVEL_COUNT ? mids.median() : level;
}

/** False where no level is known. */
function isOtherFactor(state: TickerState, mid: number): boolean {
  const level = levelOf(state);
  return mid > PRICES_MAX_FACTOR * level || mid * PRICES_MAX_FACTOR < level;
}

function isSpike(state: TickerState, mid: number, afterOpen: boolean): boolean {
  // Nearly every tick ends here; without it, the medians would cost more than all of the engine.
  if (state.nearLeft > 0 && Math.abs(mid - state.near) <= state.bandShare * state.near) {
    state.nearLeft -= 1;
    return false;
  }
  if (isOtherFactor(state, mid)) return true;
  if (afterOpen || state.mids.size() === 0) return false;
  const median = state.mids.median();
  state.near = median;
  state.nearLeft = NEAR_COUNT;
  return Math.abs(mid - median) > bandOf(state, median);
}

/** The session of a tick's time; a calendar's answer is kept until its state changes. */
function sessionAt(state: TickerState, calendar: Calendar, atMs: number): SessionAnswer {
  const { session } = state;
  if (session?.calendar === calendar && session.fromMs <= atMs && atMs < session.untilMs) return session.answer;
  const answer = calendar.sessionAt(atMs);
  const changes = [answer.nextOpen, answer.nextClose].filter((ms) => ms !== null);
  // An override may begin or end without another state.
  const edges = calendar.rules.overrides.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs ?? Number.POSITIVE_INFINITY]);
  const known = changes.length > 0 ? changes : [atMs + ASK_AGAIN_MS];
  const untilMs = Math.min(...known, ...edges.filter((ms) => ms > atMs));
  state.session = { calendar, answer, fromMs: atMs, untilMs };
  return answer;
}

/** Makes a filter without state; a ticker starts from its newest quote. */
export function createTickFilter(options: TickFilterOptions): TickFilter {
  const { listingOf, calendarOf, quoteOf, off, heldBack } = options;
  const states = new Map<string, TickerState>();
  /** Tickers with ticks that are held. */
  const holding = new Set<TickerState>();
  let released = NONE;
  let holds = false;

  function stateOf(ticker: string): TickerState {
    let state = states.get(ticker);
    if (state === undefined) {
      state = newState(listingOf(ticker));
      const quote = quoteOf(ticker);
      if (quote !== undefined) learn(state, midOf(quote));
      states.set(ticker, state);
    }
    return state;
  }

  function giveUp(suspect: Suspect, nowMs: number): void {
    if (!suspect.held) return;
    suspect.held = false;
    heldBack(suspect.tick, "spike", nowMs);
  }

  /** Nothing agrees with the suspects. */
  function giveUpAll(state: TickerState, nowMs: number): void {
    for (const suspect of state.suspects) giveUp(suspect, nowMs);
    state.suspects = [];
    holding.delete(state);
  }

  /** True once enough ticks agree on another level; those that are still held are then released. */
  function isConfirmed(state: TickerState, tick: Tick, nowMs: number): boolean {
    const mid = midOf(tick);
    const { suspects } = state;
    // The same tick again, as of a batch that is sent twice, proves nothing.
    if (suspects.some(({ tick: other }) => isSame(other, tick))) return false;
    const band = bandOf(state, mid);
    const agrees = suspects.every(({ tick: other }) => Math.abs(midOf(other) - mid) <= band && other.time_msc <= tick.time_msc);
    if (!agrees) giveUpAll(state, nowMs);
    if (state.suspects.length + 1 < AGREE_COUNT || isOtherFactor(state, mid)) {
      // The oldest is needed no longer where even all together are not believed.
      if (state.suspects.length + 1 >= AGREE_COUNT) for (const oldest of state.suspects.splice(0, 1)) giveUp(oldest, nowMs);
      state.suspects.push({ tick, untilMs: nowMs + HELD_MAX_MS, held: true });
      holding.add(state);
      holds = true;
      return false;
    }
    for (const suspect of state.suspects) if (suspect.untilMs < nowMs) giveUp(suspect, nowMs);
    released = state.suspects.filter(({ held }) => held).map((suspect) => suspect.tick);
    state.level = levelOf(state);
    state.mids.clear();
    state.nearLeft = 0;
    for (const suspect of state.suspects) learn(state, midOf(suspect.tick));
    state.suspects = [];
    holding.delete(state);
    return true;
  }

  function watchSpread(state: TickerState, tick: Tick): void {
    const { spreads } = state;
    const spread = tick.ask - tick.bid;
    if (spread > state.wideSpread) options.wide(tick);
    const minute = Math.floor(tick.time_msc / MINUTE_MS);
    if (minute === state.spreadMinute) return;
    state.spreadMinute = minute;
    spreads.add(spread);
    if (spreads.size() >= SPREADS_MIN_COUNT) state.wideSpread = WIDE_FACTOR * spreads.median();
  }

  function refuse(tick: Tick, reason: FilterReason, nowMs: number): FilterReason {
    heldBack(tick, reason, nowMs);
    return reason;
  }

  return {
    judge(tick, nowMs) {
      released = NONE;
      holds = false;
      const state = stateOf(tick.ticker);
      const implausible = judgePlausible(state.range, { low: tick.bid, high: tick.ask, volume: tick.volume });
      if (implausible !== null && !off.has(implausible)) return refuse(tick, implausible, nowMs);
      const calendar = calendarOf(tick.ticker);
      const session = calendar && sessionAt(state, calendar, tick.time_msc);
      if (session?.state === "closed" && session.source !== "operator_override" && !off.has("market_closed"))
        return refuse(tick, "market_closed", nowMs);
      if (!off.has("spike")) {
        const mid = midOf(tick);
        const openedAt = session?.openedAt ?? Number.NEGATIVE_INFINITY;
        if (isSpike(state, mid, tick.time_msc < openedAt + AFTER_OPEN_MS)) {
          if (!isConfirmed(state, tick, nowMs)) return "spike";
        } else if (state.suspects.length > 0) giveUpAll(state, nowMs);
        learn(state, mid);
      }
      watchSpread(state, tick);
      return null;
    },
    holds: () => holds,
    released: () => released,
    expire(nowMs) {
      for (const state of holding) {
        for (const suspect of state.suspects) if (suspect.untilMs < nowMs) giveUp(suspect, nowMs);
        if (state.suspects.every(({ held }) => !held)) holding.delete(state);
      }
    },
  };
}
