import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { MarketFeed } from "./feed";

/** Interval between batches. */
const BATCH_EVERY_MS = 100;
/** Maximum length of a batch, so that a fast replay does not block other work. */
const BATCH_MAX_TICKS = 2_000;

/** Opens what a replay reads: the ticks of each ticker, or of each file, in order. They end when the signal aborts. */
export type TickSources = (signal: AbortSignal) => readonly AsyncGenerator<Tick>[];

interface ReplayOptions {
  sources: TickSources;
  /** 1 is the recorded pace. */
  pace: number;
  /** now: the first tick gets the start time, the others keep their distances (divided by the pace); none: original times. */
  shift: "now" | "none";
  clock: Clock;
}

/** Merges several sources into one, ordered by time. */
async function* merged(sources: readonly AsyncGenerator<Tick>[]): AsyncGenerator<Tick> {
  const heads: { readonly ticks: AsyncGenerator<Tick>; next: IteratorResult<Tick> }[] = [];
  try {
    // One after the other: what a source reads before its first tick is in memory once.
    for (const ticks of sources) heads.push({ ticks, next: await ticks.next() });
    for (;;) {
      let first: (typeof heads)[number] | undefined;
      for (const head of heads) {
        if (head.next.done) continue;
        if (first === undefined || first.next.done || head.next.value.time_msc < first.next.value.time_msc) first = head;
      }
      if (first === undefined || first.next.done) return;
      yield first.next.value;
      first.next = await first.ticks.next();
    }
  } finally {
    await Promise.all(sources.map((ticks) => ticks.return(undefined)));
  }
}

/**
 * Replays recorded ticks once at their pace or a multiple of it, then ends. A node that continues a replay gets the ticks of
 * the meantime at once, because the recording starts at the same instant on every node.
 */
export function replayFeed({ sources, pace, shift, clock }: ReplayOptions): MarketFeed["open"] {
  return ({ originMs, fromMs = Number.NEGATIVE_INFINITY }) =>
    async function* run(signal) {
      let firstMs: number | undefined;
      let batch: Tick[] = [];
      let dueMs = originMs;
      for await (const tick of merged(sources(signal))) {
        if (signal.aborted) return;
        firstMs ??= tick.time_msc;
        const atMs = originMs + Math.floor((tick.time_msc - firstMs) / pace);
        const stamped = shift === "now" ? { ...tick, time_msc: atMs } : tick;
        if (stamped.time_msc < fromMs) continue;
        if (batch.length > 0 && (atMs >= dueMs + BATCH_EVERY_MS || batch.length >= BATCH_MAX_TICKS)) {
          yield batch;
          batch = [];
        }
        if (atMs > clock.now()) await clock.wait(atMs - clock.now(), signal);
        if (batch.length === 0) dueMs = atMs;
        batch.push(stamped);
      }
      if (batch.length > 0 && !signal.aborted) yield batch;
    };
}
