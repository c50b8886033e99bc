import { MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { WatchedMinutes } from "#server/store/klines/watched-minutes";

/** Pushed ticks of a ticker that come with longer pauses do not show that its feeder lived in between. */
const PUSH_SILENCE_MAX_MS = 10 * SECOND_MS;
/** Ranges that have ended and can still lose a minute to a late tick. */
const ENDED_KEPT_COUNT = 1_000;

/**
 * Knows of which minutes of a ticker every tick was heard: its feed lived from their first to their last millisecond. A connection
 * says so itself; of pushed ticks, each ticker speaks for itself.
 */
export interface MinuteWatch {
  /** The connection of a ticker lives at this instant (Unix ms), and everything it brought before is applied. */
  alive(ticker: string, atMs: number, silenceMaxMs: number): void;
  /** The connection was lost, or has stopped pricing: minutes from this instant (Unix ms) on were not watched, whatever was said. */
  lost(ticker: string, sinceMs: number): void;
  /** A pushed tick of this time was applied. */
  pushed(ticker: string, timeMs: number): void;
  /** A tick came after its minute was closed: that minute lacks it. */
  late(ticker: string, timeMs: number): void;
  /** The whole minutes of ranges that grew or shrank since the last call. */
  take(): WatchedMinutes[];
}

interface Span {
  fromMs: number;
  toMs: number;
  /** The whole minutes that were taken last. */
  taken: string;
}

const wholeMinutes = ({ fromMs, toMs }: Span) => ({
  from: Math.ceil(fromMs / MINUTE_MS) * MINUTE_S,
  to: Math.floor(toMs / MINUTE_MS) * MINUTE_S,
});

/** Makes a watch that has seen nothing. */
export function createMinuteWatch(): MinuteWatch {
  const spans = new Map<string, Span>();
  /** Ranges that have ended or shrunk, until they are taken. */
  let ended: WatchedMinutes[] = [];
  /** The last ranges that have ended. */
  let kept: WatchedMinutes[] = [];

  function put(range: WatchedMinutes): void {
    ended.push(range);
    kept.push(range);
    if (kept.length > ENDED_KEPT_COUNT) kept.shift();
  }

  function end(ticker: string): void {
    const span = spans.get(ticker);
    spans.delete(ticker);
    if (span === undefined) return;
    const range = wholeMinutes(span);
    // One that was taken before may have shrunk to nothing.
    if (range.to > range.from || span.taken !== "") put({ ticker, from: range.from, to: Math.max(range.from, range.to) });
  }

  function extend(ticker: string, atMs: number, silenceMaxMs: number): void {
    const span = spans.get(ticker);
    if (span !== undefined && atMs - span.toMs <= silenceMaxMs) {
      span.toMs = Math.max(span.toMs, atMs);
      return;
    }
    end(ticker);
    spans.set(ticker, { fromMs: atMs, toMs: atMs, taken: "" });
  }

  /** Takes a minute (Unix seconds) out of a range that has ended. */
  function cutEnded(ticker: string, minute: number): void {
    const range = kept.find((one) => one.ticker === ticker && one.from <= minute && minute < one.to);
    if (range === undefined) return;
    kept = kept.filter((one) => one !== range);
    put({ ...range, to: minute });
    if (range.to > minute + MINUTE_S) put({ ...range, from: minute + MINUTE_S });
  }

  function cut(ticker: string, timeMs: number): void {
    const minuteMs = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
    cutEnded(ticker, minuteMs / SECOND_MS);
    const span = spans.get(ticker);
    if (span === undefined || minuteMs + MINUTE_MS <= span.fromMs || minuteMs > span.toMs) return;
    const { toMs } = span;
    span.toMs = Math.max(span.fromMs, minuteMs);
    end(ticker);
    spans.set(ticker, { fromMs: minuteMs + MINUTE_MS, toMs: Math.max(toMs, minuteMs + MINUTE_MS), taken: "" });
  }

  /** Ends the range that runs, and takes back what this one and earlier ones have after an instant (Unix ms). */
  function endAt(ticker: string, sinceMs: number): void {
    end(ticker);
    const sinceS = Math.floor(sinceMs / MINUTE_MS) * MINUTE_S;
    const beyond = kept.filter((range) => range.ticker === ticker && range.to > Math.max(range.from, sinceS));
    kept = kept.filter((range) => !beyond.includes(range));
    for (const range of beyond) put({ ...range, to: Math.max(range.from, sinceS) });
  }

  return {
    alive: extend,
    lost: endAt,
    pushed: (ticker, timeMs) => extend(ticker, timeMs, PUSH_SILENCE_MAX_MS),
    late: cut,
    take() {
      const ranges = ended;
      ended = [];
      for (const [ticker, span] of spans) {
        const { from, to } = wholeMinutes(span);
        const text = `${from} ${to}`;
        if (to <= from || text === span.taken) continue;
        span.taken = text;
        ranges.push({ ticker, from, to });
      }
      return ranges;
    },
  };
}
