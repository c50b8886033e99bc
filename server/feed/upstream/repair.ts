import type { WaitingRepair } from "#lib/contract/portal-feeds";
import type { Listing } from "#lib/domain/instrument";
import { isFault } from "#lib/fault";
import type { Minutes } from "#lib/market/coverage";
import { traced, type Work } from "#lib/spans";
import { DAY_S, MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import { type Feed, Refused, Upset } from "../feed";
import { problemOf } from "./hide";
import { mendSpan, type SpanOptions } from "./mend-span";
import type { Matched } from "./symbols";

/** How long after its end a provider has a minute. */
const SETTLED_AFTER_MS = 10 * SECOND_MS;
/** A minute that a provider has not after so many tries, the last of them so much later, had no price. */
const TRIES_COUNT = 3;
const LAST_TRY_AFTER_MS = 10 * MINUTE_MS;
/** Pauses after a try that failed. */
const FAILED_PAUSE_MS = 30 * SECOND_MS;
const REFUSED_PAUSE_MS = 15 * MINUTE_MS;
/** Gaps that wait; beyond them the two newest become one. */
const GAPS_MAX_COUNT = 20;

interface RepairOptions extends SpanOptions {
  readonly days: number;
}

/** Mends minutes from the history of a provider. */
export interface Repair {
  /** Prices come. Before the first time, FEED_REPAIR_DAYS days are missing; later what came since the loss. */
  live(matched: Pick<Matched, "bySymbol">): void;
  /** Prices no longer come; ticks from this instant (Unix ms) on may lack. */
  lost(sinceMs: number): void;
  /** Minutes since this instant (Unix ms) may be missing; null: those that are before the first connection. */
  since(fromMs: number | null): void;
  /** What waits to be mended, the next one first. */
  waiting(): WaitingRepair[];
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Gap extends Minutes {
  readonly tries: number;
  readonly dueMs: number;
}

const isoOf = (ms: number) => new Date(ms).toISOString();

function shown({ from, to, tries, dueMs }: Gap, running: boolean): WaitingRepair {
  return { from: isoOf(from * SECOND_MS), to: isoOf(to * SECOND_MS), tries, due_at: isoOf(dueMs), running };
}

/** Makes the repair of a provider that has history. One request is in flight at most. */
export function createRepair(options: RepairOptions): Repair {
  const { upstream, days, clock, log } = options;
  let gaps: Gap[] = [];
  let current: Gap | undefined;
  let listings: ReadonlyMap<string, Listing> = new Map();
  let lostMs: number | null = null;
  let wake: () => void = () => undefined;

  function add(gap: Gap): void {
    gaps.push(gap);
    const [last, before] = [gaps.at(-1), gaps.at(-2)];
    if (gaps.length > GAPS_MAX_COUNT && last !== undefined && before !== undefined)
      gaps.splice(-2, 2, { ...last, from: Math.min(last.from, before.from), to: Math.max(last.to, before.to) });
    wake();
  }

  function since(fromMs: number | null): void {
    const nowMs = clock.now();
    const beganMs = fromMs ?? nowMs - days * DAY_S * SECOND_MS;
    const [from, to] = [Math.floor(beganMs / MINUTE_MS) * MINUTE_S, Math.ceil(nowMs / MINUTE_MS) * MINUTE_S];
    add({ from, to, tries: 0, dueMs: nowMs });
  }

  async function attempt(gap: Gap, signal: AbortSignal): Promise<void> {
    const nowMs = clock.now();
    const settledS = Math.floor((nowMs - SETTLED_AFTER_MS) / MINUTE_MS) * MINUTE_S;
    const isWhole = gap.to <= settledS;
    try {
      const span = { from: gap.from, to: Math.min(gap.to, settledS) };
      const describe = (): Work => ({
        name: "feed repair",
        kind: "client",
        attributes: { "spotwire.feed": upstream.name, "spotwire.feed.minutes": (span.to - span.from) / MINUTE_S },
      });
      const missing = span.from < span.to && (await traced(describe, () => mendSpan(options, listings, span, signal)));
      const tries = gap.tries + 1;
      if (!isWhole) add({ ...gap, tries, dueMs: gap.to * SECOND_MS + SETTLED_AFTER_MS });
      else if (missing && tries < TRIES_COUNT)
        add({ ...gap, tries, dueMs: nowMs + (tries === 1 ? MINUTE_MS : LAST_TRY_AFTER_MS) });
    } catch (error) {
      // An operator undid the repair while it ran: its minutes are not to be mended.
      if (signal.aborted || (isFault(error) && error.id === "not_found")) return;
      const asked = error instanceof Upset ? (error.retryAfterMs ?? 0) : 0;
      const pauseMs = error instanceof Refused ? REFUSED_PAUSE_MS : Math.max(FAILED_PAUSE_MS, asked);
      log.warn({ feed: upstream.name, reason: problemOf(upstream, error) }, "cannot mend missing minutes; trying again");
      add({ ...gap, dueMs: nowMs + pauseMs });
    }
  }

  return {
    live({ bySymbol }) {
      listings = bySymbol;
      since(lostMs === null ? null : lostMs - upstream.declares.idleMs);
      lostMs = null;
    },
    since,
    lost(sinceMs) {
      // Of losses before prices come again, the earliest one counts.
      if (listings.size > 0) lostMs = Math.min(sinceMs, lostMs ?? sinceMs);
    },
    waiting: () => [
      ...(current === undefined ? [] : [shown(current, true)]),
      ...gaps.toSorted((a, b) => a.dueMs - b.dueMs).map((gap) => shown(gap, false)),
    ],
    async run(signal) {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const [next] = gaps.toSorted((a, b) => a.dueMs - b.dueMs);
        if (next !== undefined && next.dueMs <= clock.now()) {
          gaps = gaps.filter((gap) => gap !== next);
          current = next;
          await attempt(next, signal);
          current = undefined;
          continue;
        }
        const over = new AbortController();
        const due = next === undefined ? [] : [clock.wait(next.dueMs - clock.now(), over.signal)];
        await Promise.race([woken, stopped, ...due]);
        over.abort();
      }
    },
  };
}

/** A feed beside which a repair runs, from its first connection until it stops. */
export function withRepair(feed: Feed, repair: Repair | undefined): Feed {
  if (repair === undefined) return feed;
  let running: Promise<void> | undefined;
  return async function* run(signal) {
    running ??= repair.run(signal);
    try {
      yield* feed(signal);
    } finally {
      if (signal.aborted) await running;
    }
  };
}
