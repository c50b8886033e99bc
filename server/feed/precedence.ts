import type { ChangeReason } from "#lib/contract/portal-feeds";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/** A provider whose connection does not live for so long no longer speaks. */
const LOST_MAX_MS = 10 * SECOND_MS;
/** A ticker is quiet without a tick for so long, and for so many times its usual gap. */
const QUIET_MIN_MS = 30 * SECOND_MS;
const QUIET_GAPS_COUNT = 5;
/** An earlier provider speaks again once it was well for so long, and the last change is so long ago. */
const WELL_MS = 5 * MINUTE_MS;
const CHANGE_PAUSE_MS = MINUTE_MS;
/** One that has just become the speaker is not quiet before it had so long to tick, however long ago its last tick is. */
const STAY_MIN_MS = 10 * SECOND_MS;
/** After so many changes of a ticker within an hour, its speaker stays for an hour. */
const CHANGES_MAX_COUNT = 4;
const HOLD_MS = HOUR_MS;
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

/** Another provider speaks for a ticker. Absent `from`: nobody did. */
export interface Change {
  readonly ticker: string;
  readonly from: string | undefined;
  readonly to: string;
  readonly reason: ChangeReason;
  /** When the former speaker was last known to be well, Unix milliseconds. */
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

/** Decides for each ticker which of several providers speaks. Instants are given, Unix milliseconds. */
export interface Precedence {
  /** Prices of these tickers can come from a provider now. */
  live(name: string, tickers: ReadonlySet<string>, nowMs: number): void;
  lost(name: string, nowMs: number): void;
  /** Takes a tick. @returns whether its provider speaks for the ticker */
  tick(name: string, ticker: string, nowMs: number): boolean;
  /** Decides for all these tickers; call it each second. */
  look(tickers: readonly string[], nowMs: number): void;
  /** A provider speaks for all that it offers, whatever its state; null: none is preferred. */
  pin(name: string | null, nowMs: number): void;
  pinned(): string | null;
  /** Who speaks for a ticker; undefined before the first does. */
  speaker(ticker: string): string | undefined;
  /** Since when. */
  since(ticker: string): number;
  /** False where a provider is known not to offer a ticker. */
  offers(name: string, ticker: string): boolean;
  /** Until when the speaker of a ticker stays because of too many changes; null where it does not. */
  heldUntil(ticker: string, nowMs: number): number | null;
}

/** What one provider said about one ticker. */
interface Voice {
  lastMs: number | null;
  gapMs: number | null;
  /** Since when it is well without a break. */
  wellMs: number | null;
}

interface TickerState {
  readonly ticker: string;
  readonly beganMs: number;
  readonly voices: readonly Voice[];
  speaker: number | undefined;
  /** The last change. */
  sinceMs: number;
  changes: readonly number[];
  heldUntilMs: number;
}

interface Connection {
  readonly member: Member;
  tickers: ReadonlySet<string> | undefined;
  live: boolean;
  /** Since when it is live, or not. */
  sinceMs: number;
}

/** A ticker is quiet after this pause. */
const quietAfterMs = ({ gapMs }: Voice) => Math.max(QUIET_MIN_MS, QUIET_GAPS_COUNT * (gapMs ?? 0));

const ticks = (voice: Voice, nowMs: number) => voice.lastMs !== null && nowMs - voice.lastMs <= quietAfterMs(voice);

function noteTick(voice: Voice, nowMs: number): void {
  const gapMs = voice.lastMs === null ? Number.POSITIVE_INFINITY : nowMs - voice.lastMs;
  if (gapMs <= GAP_MAX_MS) voice.gapMs = voice.gapMs === null ? gapMs : voice.gapMs + (gapMs - voice.gapMs) * GAP_SHARE;
  voice.lastMs = nowMs;
}

/** Since when a provider can bring no ticks of a ticker; null while it can. */
function lostSince(
  { member, live, sinceMs, tickers }: Connection,
  voice: Voice,
  { ticker, beganMs }: TickerState,
): number | null {
  if (!member.connects) return voice.lastMs === null ? beganMs : null;
  return live && tickers?.has(ticker) ? null : sinceMs;
}

/** Calls `each` with the providers of a ticker in their order, until it returns true. @returns that one */
function first(
  connections: readonly Connection[],
  { voices }: TickerState,
  each: (connection: Connection, voice: Voice, index: number) => boolean,
): number | undefined {
  const index = connections.findIndex((connection, at) => {
    const voice = voices[at];
    return voice !== undefined && each(connection, voice, at);
  });
  return index < 0 ? undefined : index;
}

/** Makes the precedence of a venue. Its memory is bounded by tickers and providers. */
export function createPrecedence({ members, openSince, changed, nowMs: begunMs }: PrecedenceOptions): Precedence {
  const connections = members.map((member): Connection => ({ member, tickers: undefined, live: false, sinceMs: begunMs }));
  const states = new Map<string, TickerState>();
  let pinned: number | undefined;

  const indexOf = (name: string) => members.findIndex((member) => member.name === name);

  function stateOf(ticker: string): TickerState {
    const known = states.get(ticker);
    if (known !== undefined) return known;
    const voices = members.map((): Voice => ({ lastMs: null, gapMs: null, wellMs: null }));
    const never = Number.NEGATIVE_INFINITY;
    const made = { ticker, beganMs: begunMs, voices, speaker: undefined, sinceMs: begunMs, changes: [], heldUntilMs: never };
    states.set(ticker, made);
    return made;
  }

  function isWell(connection: Connection, voice: Voice, state: TickerState, isOpen: boolean, nowMs: number): boolean {
    if (lostSince(connection, voice, state) !== null) return false;
    return isOpen ? ticks(voice, nowMs) : connection.member.connects;
  }

  function turn(state: TickerState, to: number, reason: ChangeReason, wellMs: number, nowMs: number): void {
    const [from, next] = [state.speaker === undefined ? undefined : members[state.speaker], members[to]];
    if (next === undefined || from === next) return;
    state.speaker = to;
    state.sinceMs = nowMs;
    if (reason !== "first" && reason !== "pinned") {
      state.changes = [...state.changes.filter((atMs) => atMs > nowMs - HOUR_MS), nowMs];
      if (state.changes.length >= CHANGES_MAX_COUNT) [state.heldUntilMs, state.changes] = [nowMs + HOLD_MS, []];
    }
    changed({ ticker: state.ticker, from: from?.name, to: next.name, reason, wellMs });
  }

  /** The pinned provider of a ticker, if it offers it. */
  function pinnedFor(state: TickerState): number | undefined {
    return first(
      connections,
      state,
      ({ member, tickers }, { lastMs }, at) =>
        at === pinned && (member.connects ? tickers?.has(state.ticker) === true : lastMs !== null),
    );
  }

  /** At the start, an earlier provider gets the time to connect that it has later to connect again. */
  function choose(state: TickerState, nowMs: number): void {
    let waits = false;
    const chosen = first(connections, state, (connection, voice) => {
      if (connection.tickers !== undefined && !connection.tickers.has(state.ticker)) return false;
      const lostMs = lostSince(connection, voice, state);
      waits ||= lostMs !== null && nowMs - state.beganMs < LOST_MAX_MS;
      return waits || lostMs === null;
    });
    if (chosen !== undefined && !waits) turn(state, chosen, "first", state.beganMs, nowMs);
  }

  /** Why a speaker no longer does, and since when. */
  function awayOf(state: TickerState, speaker: number, openMs: number | null, nowMs: number) {
    const [connection, voice] = [connections[speaker], state.voices[speaker]];
    if (connection === undefined || voice === undefined) return undefined;
    const sinceMs = lostSince(connection, voice, state);
    if (sinceMs !== null) return nowMs - sinceMs >= LOST_MAX_MS ? { reason: "lost" as const, sinceMs } : undefined;
    if (openMs === null || nowMs - state.sinceMs < STAY_MIN_MS) return undefined;
    const quietMs = Math.max(voice.lastMs ?? state.sinceMs, openMs);
    return nowMs - quietMs >= quietAfterMs(voice) ? { reason: "quiet" as const, sinceMs: quietMs } : undefined;
  }

  function decide(state: TickerState, nowMs: number): void {
    const openMs = openSince(state.ticker, nowMs);
    for (const [at, connection] of connections.entries()) {
      const voice = state.voices[at];
      if (voice === undefined) continue;
      if (!isWell(connection, voice, state, openMs !== null, nowMs)) voice.wellMs = null;
      else voice.wellMs ??= nowMs;
    }
    const preferred = pinnedFor(state);
    const { speaker } = state;
    if (preferred !== undefined) turn(state, preferred, "pinned", nowMs, nowMs);
    else if (speaker === undefined) choose(state, nowMs);
    else if (nowMs >= state.heldUntilMs) reconsider(state, speaker, openMs, nowMs);
  }

  /** Whether another one than the speaker speaks from now on. */
  function reconsider(state: TickerState, speaker: number, openMs: number | null, nowMs: number): void {
    const away = awayOf(state, speaker, openMs, nowMs);
    if (away !== undefined) {
      // Silent everywhere is no reason: another one must be well, and have ticked since.
      const next = first(connections, state, (_, { wellMs, lastMs }, at) => {
        const ticked = away.reason === "lost" || (lastMs !== null && lastMs > away.sinceMs);
        return at !== speaker && wellMs !== null && ticked;
      });
      if (next !== undefined) turn(state, next, away.reason, away.sinceMs, nowMs);
      return;
    }
    if (nowMs - state.sinceMs < CHANGE_PAUSE_MS) return;
    const back = first(connections, state, (_, { wellMs }, at) => at < speaker && wellMs !== null && nowMs - wellMs >= WELL_MS);
    if (back !== undefined) turn(state, back, "back", nowMs, nowMs);
  }

  /** True if a tick of a standby may be the first after its speaker was lost. */
  function isDue({ speaker, voices }: TickerState, nowMs: number): boolean {
    if (speaker === undefined) return true;
    return nowMs - (voices[speaker]?.lastMs ?? begunMs) >= LOST_MAX_MS;
  }

  return {
    live(name, tickers, nowMs) {
      const connection = connections[indexOf(name)];
      if (connection === undefined) return;
      Object.assign(connection, { tickers, live: true, sinceMs: nowMs });
    },
    lost(name, nowMs) {
      const index = indexOf(name);
      const connection = connections[index];
      if (connection?.live !== true) return;
      Object.assign(connection, { live: false, sinceMs: nowMs });
      for (const { voices } of states.values()) {
        const voice = voices[index];
        if (voice !== undefined) voice.wellMs = null;
      }
    },
    tick(name, ticker, nowMs) {
      const state = stateOf(ticker);
      const index = indexOf(name);
      const voice = state.voices[index];
      if (voice === undefined) return false;
      noteTick(voice, nowMs);
      if (state.speaker !== index && isDue(state, nowMs)) decide(state, nowMs);
      return state.speaker === index;
    },
    look(tickers, nowMs) {
      for (const ticker of tickers) decide(stateOf(ticker), nowMs);
    },
    pin(name, nowMs) {
      pinned = name === null ? undefined : indexOf(name);
      for (const state of states.values()) {
        [state.heldUntilMs, state.changes] = [Number.NEGATIVE_INFINITY, []];
        decide(state, nowMs);
      }
    },
    pinned: () => (pinned === undefined ? null : (members[pinned]?.name ?? null)),
    speaker(ticker) {
      const at = states.get(ticker)?.speaker;
      return at === undefined ? undefined : members[at]?.name;
    },
    since: (ticker) => states.get(ticker)?.sinceMs ?? begunMs,
    offers(name, ticker) {
      const { tickers } = connections[indexOf(name)] ?? {};
      return tickers === undefined || tickers.has(ticker);
    },
    heldUntil(ticker, nowMs) {
      const untilMs = states.get(ticker)?.heldUntilMs ?? nowMs;
      return untilMs > nowMs ? untilMs : null;
    },
  };
}
