import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { MarketFeed } from "./feed";
import { merged, parseRecordings, ticksOf } from "./replay-files";

/** Interval between batches. */
const BATCH_EVERY_MS = 100;
/** Maximum length of a batch, so that a fast replay does not block other work. */
const BATCH_MAX_TICKS = 2_000;

interface ReplayOptions {
  /** Entries TICKER=path: tick files in any format the importer supports. */
  files: readonly string[];
  /** 1 is the recorded pace. */
  pace: number;
  /** now: the first tick gets the start time, the others keep their distances (divided by the pace); none: original times. */
  shift: "now" | "none";
  listings: () => readonly Listing[];
  clock: Clock;
  log: Logger;
}

/**
 * Replays recorded ticks once at their pace or a multiple of it, then ends. A node that continues a replay gets the ticks of
 * the meantime at once, because the recording starts at the same instant on every node.
 * @throws Error at once when an entry of `files` is not of the form TICKER=path.
 */
export function replayFeed({ files, pace, shift, listings, clock, log }: ReplayOptions): MarketFeed["open"] {
  const recordings = parseRecordings(files);
  return ({ originMs, fromMs = Number.NEGATIVE_INFINITY }) =>
    async function* run(signal) {
      const options = { listings: listings(), clock, log, signal };
      let firstMs: number | undefined;
      let batch: Tick[] = [];
      let dueMs = originMs;
      for await (const tick of merged(recordings.map((recording) => ticksOf(recording, options)))) {
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
