import type { ChangeReason } from "#lib/contract/portal-feeds";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/** A provider whose connection does not live for so long is no longer in force. */
const LOST_MAX_MS = 10 * SECOND_MS;
/** A ticker is quiet without a tick for so long, and for so many times its usual gap. */
const QUIET_MIN_MS = 30 * SECOND_MS;
const QUIET_GAPS_COUNT = 5;
/** An earlier provider is in force again once it was well for so long, and the last return of the ticker is so long ago. */
const WELL_MS = 5 * MINUTE_MS;
const RETURN_PAUSE_MS = HOUR_MS;
/** A longer pause between two ticks says nothing about the usual one. */
const GAP_MAX_MS = 10 * MINUTE_MS;
/** The share of a new gap in the usual one. */
const GAP_SHARE = 1 / 16;

/** A provider of a venue. */
interface Member {
  readonly name: string;
  /** False where ticks are pushed: without a connection, a ticker that ticks is all that shows that it is well. */
  readonly connects: boolean;
}

/** Another provider is in force for a ticker. Absent `from`: none was. */
export interface Change {
  readonly ticker: string;
  readonly from: string | undefined;
  readonly to: string;
  readonly reason: ChangeReason;
  /** When the former provider was last known to be well, Unix milliseconds. */
  readonly wellMs: number;
}

interface PrecedenceOptions {
  /** In order of precedence. */
  readonly members: readonly Member[];
  /** Since when the market of a ticker is open, Unix milliseconds; null while it is not. */
  readonly openSince: (ticker: string, nowMs: number) => number | null;
  /** Called for each change, while it happens. */
  readonly changed: (change: Change) => void;
  readonly nowMs: number;
}

interface Connection extends Member {
  /** What it offers; undefined before it has lived. */
  tickers: ReadonlySet<string> | undefined;
  live: boolean;
  /** Since when it is live, or not. */
  sinceMs: number;
}

/** A provider as the source of one ticker. */
interface Source {
  readonly connection: Connection;
  lastMs: number | null;
  gapMs: number | null;
  /** Since when it is well without a break. */
  wellMs: number | null;
}

interface TickerState {
  readonly ticker: string;
  /** In order of precedence. */
  readonly sources: readonly Source[];
  inForce: Source | undefined;
  /** The last change, and the last one back to an earlier provider. */
  sinceMs: number;
  returnedMs: number;
}

interface Next extends Pick<Change, "reason" | "wellMs"> {
  readonly source: Source;
}

const offers = ({ tickers }: Connection, ticker: string) => tickers === undefined || tickers.has(ticker);

/** A ticker is quiet after this pause. */
const quietAfterMs = ({ gapMs }: Source) => Math.max(QUIET_MIN_MS, QUIET_GAPS_COUNT * (gapMs ?? 0));

function noteTick(source: Source, nowMs: number): void {
  const { lastMs, gapMs } = source;
  const newMs = lastMs === null ? Number.POSITIVE_INFINITY : nowMs - lastMs;
  if (newMs <= GAP_MAX_MS) source.gapMs = gapMs === null ? newMs : gapMs + (newMs - gapMs) * GAP_SHARE;
  source.lastMs = nowMs;
}

/** Since when a provider can bring no ticks of a ticker; null while it can. */
function lostSince({ connection, lastMs }: Source, ticker: string): number | null {
  const { connects, live, tickers, sinceMs } = connection;
  const brings = connects ? live && tickers?.has(ticker) : lastMs !== null;
  return brings ? null : sinceMs;
}

function isWell(source: Source, ticker: string, isOpen: boolean, nowMs: number): boolean {
  if (lostSince(source, ticker) !== null) return false;
  return isOpen ? source.lastMs !== null && nowMs - source.lastMs <= quietAfterMs(source) : source.connection.connects;
}

/** The first provider. At the start, an earlier one gets the time to connect that it has later to connect again. */
function firstOf({ ticker, sources }: TickerState, nowMs: number): Next | undefined {
  const source = sources.find((one) => {
    const lostMs = lostSince(one, ticker);
    return lostMs === null || (offers(one.connection, ticker) && nowMs - lostMs < LOST_MAX_MS);
  });
  return source && lostSince(source, ticker) === null ? { source, reason: "first", wellMs: nowMs } : undefined;
}

/** Why the provider in force no longer is, and since when it brings no ticks. */
function awayOf(source: Source, { ticker, sinceMs }: TickerState, openMs: number | null, nowMs: number) {
  const lostMs = lostSince(source, ticker);
  if (lostMs !== null) return nowMs - lostMs >= LOST_MAX_MS ? { reason: "lost" as const, wellMs: lostMs } : undefined;
  // One that has just come into force gets the time to tick, however long ago its last tick is.
  const quietMs = openMs === null ? nowMs : Math.max(source.lastMs ?? 0, sinceMs, openMs);
  return nowMs - quietMs >= quietAfterMs(source) ? { reason: "quiet" as const, wellMs: quietMs } : undefined;
}

/** Which provider takes the place of the one in force, and why; undefined: none does. */
function successorOf(inForce: Source, state: TickerState, openMs: number | null, nowMs: number): Next | undefined {
  const { sources, returnedMs } = state;
  const away = awayOf(inForce, state, openMs, nowMs);
  if (away !== undefined) {
    // Silent everywhere is no reason: another one must be well, and have ticked since.
    const hasTicked = ({ lastMs }: Source) => away.reason === "lost" || (lastMs !== null && lastMs > away.wellMs);
    const source = sources.find((one) => one !== inForce && one.wellMs !== null && hasTicked(one));
    return source && { source, ...away };
  }
  if (nowMs - returnedMs < RETURN_PAUSE_MS) return undefined;
  const earlier = sources.slice(0, sources.indexOf(inForce));
  const source = earlier.find(
    ({ wellMs, connection }) => wellMs !== null && nowMs - Math.max(wellMs, connection.sinceMs) >= WELL_MS,
  );
  return source && { source, reason: "back", wellMs: nowMs };
}

/**
 * Decides for each ticker which of several providers is in force: the first of the list that is well, an operator's before it. Its
 * memory is bounded by tickers and providers. Instants are given, Unix milliseconds.
 */
export function createPrecedence({ members, openSince, changed, nowMs: beganMs }: PrecedenceOptions) {
  const connections = members.map((member): Connection => ({ ...member, tickers: undefined, live: false, sinceMs: beganMs }));
  const states = new Map<string, TickerState>();
  let pinned: string | null = null;

  const connectionOf = (name: string) => connections.find((connection) => connection.name === name);

  function stateOf(ticker: string): TickerState {
    const known = states.get(ticker);
    if (known !== undefined) return known;
    const sources = connections.map((connection): Source => ({ connection, lastMs: null, gapMs: null, wellMs: null }));
    const made = { ticker, sources, inForce: undefined, sinceMs: beganMs, returnedMs: Number.NEGATIVE_INFINITY };
    states.set(ticker, made);
    return made;
  }

  function nextOf(state: TickerState, openMs: number | null, nowMs: number): Next | undefined {
    const { ticker, sources, inForce } = state;
    const source = sources.find(({ connection }) => connection.name === pinned);
    const isOffered = source?.connection.connects ? source.connection.tickers?.has(ticker) : source?.lastMs != null;
    if (source && isOffered) return { source, reason: "pinned", wellMs: nowMs };
    return inForce ? successorOf(inForce, state, openMs, nowMs) : firstOf(state, nowMs);
  }

  function decide(state: TickerState, nowMs: number): void {
    const { ticker, sources, inForce } = state;
    const openMs = openSince(ticker, nowMs);
    for (const source of sources)
      source.wellMs = isWell(source, ticker, openMs !== null, nowMs) ? (source.wellMs ?? nowMs) : null;
    const next = nextOf(state, openMs, nowMs);
    if (next === undefined || next.source === inForce) return;
    const { source, reason, wellMs } = next;
    Object.assign(state, { inForce: source, sinceMs: nowMs, ...(reason === "back" && { returnedMs: nowMs }) });
    changed({ ticker, from: inForce?.connection.name, to: source.connection.name, reason, wellMs });
  }

  return {
    /** Prices of these tickers can come from a provider now. */
    live(name: string, tickers: ReadonlySet<string>, nowMs: number): void {
      Object.assign(connectionOf(name) ?? {}, { tickers, live: true, sinceMs: nowMs });
    },
    lost(name: string, nowMs: number): void {
      const connection = connectionOf(name);
      if (connection?.live) Object.assign(connection, { live: false, sinceMs: nowMs });
    },
    /** Takes a tick. @returns whether its provider is in force for the ticker */
    tick(name: string, ticker: string, nowMs: number): boolean {
      const state = stateOf(ticker);
      const source = state.sources.find(({ connection }) => connection.name === name);
      if (source === undefined) return false;
      noteTick(source, nowMs);
      // It may be the first after the provider in force was lost.
      const isDue = nowMs - (state.inForce?.lastMs ?? 0) >= LOST_MAX_MS;
      if (state.inForce !== source && isDue) decide(state, nowMs);
      return state.inForce === source;
    },
    /** Decides for all these tickers; call it each second. */
    look(tickers: readonly string[], nowMs: number): void {
      for (const ticker of tickers) decide(stateOf(ticker), nowMs);
    },
    /** A provider is in force for all that it offers, whatever its state; null: none is preferred. */
    pin(name: string | null, nowMs: number): void {
      pinned = name;
      for (const state of states.values()) {
        state.returnedMs = Number.NEGATIVE_INFINITY;
        decide(state, nowMs);
      }
    },
    pinned: () => pinned,
    /** The provider in force for a ticker; undefined before the first one is. */
    inForce: (ticker: string) => states.get(ticker)?.inForce?.connection.name,
    /** Since when. */
    since: (ticker: string) => states.get(ticker)?.sinceMs ?? beganMs,
    /** False where a provider is known not to offer a ticker. */
    offers(name: string, ticker: string): boolean {
      const connection = connectionOf(name);
      return connection === undefined || offers(connection, ticker);
    },
  };
}
