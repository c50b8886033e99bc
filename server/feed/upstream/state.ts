import { type ConnectionReport, type LossReason, UPSTREAM_LOSSES_LISTED_COUNT } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import type { Catalogue } from "#lib/market/ports";
import { HOUR_MS } from "#lib/units";
import { Refused, Upset } from "../feed";
import { createDelays } from "./delays";
import type { OddReason, Offered, Step, Upstream } from "./port";
import type { Matched } from "./symbols";
import { createTickerBook } from "./ticker-book";

/** Losses of the last hour are kept up to this number: one every four seconds. */
const LOSSES_MAX_COUNT = 900;

interface UpstreamStateOptions {
  readonly upstream: Pick<Upstream, "name" | "declares" | "expiresAt">;
  readonly calendarOf: Catalogue["calendar"];
  readonly isListed: (ticker: string) => boolean;
  readonly nowMs: number;
}

/** Why a connection ended, as a word of a closed set. */
export function lossReasonOf(error: unknown): LossReason {
  if (error instanceof Refused) return "refused";
  if (!(error instanceof Upset)) return "lost";
  return error.retryAfterMs === undefined ? error.kind : "asked_to_wait";
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** What is known of a provider: its connection, its tickers and its times. Instants are given, Unix milliseconds. */
export interface UpstreamWatch {
  step(step: Step, nowMs: number): void;
  /** Anything came. */
  received(nowMs: number): void;
  ticks(ticks: readonly Tick[], nowMs: number): void;
  odd(reason: OddReason, text: string): void;
  /** The symbols that were found, and what the provider says of them. */
  matched(matched: Matched, offered: readonly Offered[], nowMs: number): void;
  /** False for a ticker that the provider did not list when it was last asked. */
  offers(ticker: string): boolean;
  /** The connection ended; it is tried again at an instant. */
  lost(error: unknown, nowMs: number, untilMs: number): void;
  /** This process no longer runs the feed. */
  stopped(nowMs: number): void;
  /** Milliseconds by which the clocks differ, when they have differed too much for a minute. */
  clockProblem(nowMs: number): number | null;
  report(nowMs: number): ConnectionReport;
}

/** The lost connections of the last hour; the newest ones where there are too many. */
function createLosses() {
  let losses: { atMs: number; reason: LossReason; text: string }[] = [];
  const recent = (nowMs: number) => losses.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
  return {
    add(loss: (typeof losses)[number]): void {
      losses = [...recent(loss.atMs).slice(1 - LOSSES_MAX_COUNT), loss];
    },
    report(nowMs: number): Pick<ConnectionReport, "losses" | "losses_count"> {
      const kept = recent(nowMs);
      const newest = kept.slice(-UPSTREAM_LOSSES_LISTED_COUNT).reverse();
      const listed = newest.map(({ atMs, ...loss }) => ({ at: new Date(atMs).toISOString(), ...loss }));
      return { losses_count: kept.length, losses: listed };
    },
  };
}

/** Makes the watch of one provider. Its memory is bounded by the number of listings. */
export function createUpstreamWatch({ upstream, calendarOf, isListed, nowMs: begunMs }: UpstreamStateOptions): UpstreamWatch {
  const { name, declares } = upstream;
  let [state, sinceMs]: [Step | "idle" | "waiting" | "refused", number] = ["idle", begunMs];
  let [untilMs, problem]: [number | null, string | null] = [null, null];
  let [heardMs, tickedMs]: [number | null, number | null] = [null, null];
  /** Since when it has no prices; null while it has some, or its connection ended for another reason. */
  let quietMs: number | null = null;
  const odds = new Map<OddReason, { count: number; text: string }>();
  const losses = createLosses();
  const delays = createDelays();
  const book = createTickerBook(calendarOf, isListed);

  function turn(next: typeof state, nowMs: number, againMs: number | null = null): void {
    if (next !== state) [state, sinceMs] = [next, nowMs];
    untilMs = againMs;
  }

  return {
    step(step, nowMs) {
      turn(step, nowMs);
      if (step === "live" && quietMs === null) problem = null;
    },
    received(nowMs) {
      heardMs = nowMs;
    },
    ticks(ticks, nowMs) {
      heardMs = nowMs;
      tickedMs = nowMs;
      if (quietMs !== null) [quietMs, problem] = [null, null];
      // An old price comes first after a pause: its age says nothing about the way or the clocks.
      for (const tick of ticks) if (book.tick(tick, nowMs) && declares.clock === "source") delays.add(tick.time_msc, nowMs);
    },
    odd(reason, text) {
      const seen = odds.get(reason);
      if (seen === undefined) odds.set(reason, { count: 1, text });
      else seen.count += 1;
    },
    matched: book.matched,
    offers: book.offers,
    lost(error, nowMs, againMs) {
      const reason = lossReasonOf(error);
      problem = error instanceof Refused || error instanceof Upset ? error.message : "it failed; see the log";
      quietMs = reason === "quiet" ? (quietMs ?? tickedMs ?? sinceMs) : null;
      turn(reason === "refused" ? "refused" : "waiting", nowMs, againMs);
      losses.add({ atMs: nowMs, reason, text: problem });
    },
    stopped: (nowMs) => turn("idle", nowMs),
    clockProblem: (nowMs) => (delays.clockIsOff(nowMs) ? delays.offsetMs(nowMs) : null),
    report(nowMs) {
      const tickers = book.report(state === "live" ? sinceMs : null, nowMs);
      const isQuiet = quietMs !== null && state !== "idle";
      return {
        name,
        state: isQuiet ? "quiet" : state,
        since: new Date(isQuiet && quietMs !== null ? quietMs : sinceMs).toISOString(),
        until: iso(untilMs),
        problem,
        last_heard_at: iso(heardMs),
        last_tick_at: iso(tickedMs),
        lag: delays.lag(nowMs),
        sends_times: declares.clock === "source",
        clock_offset_ms: delays.offsetMs(nowMs),
        clock_is_off: delays.clockIsOff(nowMs),
        ...tickers,
        ...losses.report(nowMs),
        odd: [...odds].map(([reason, { count, text }]) => ({ reason, count, text })),
        terms: declares.terms,
        expires_at: iso(upstream.expiresAt?.() ?? null),
      };
    },
  };
}
