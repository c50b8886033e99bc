import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { MarketFeed } from "./feed";
import { merged, parseRecordings, ticksOf } from "./replay-files";

/** Ticks leave in batches, this often. */
const BATCH_EVERY_MS = 100;
/** A batch is cut at this length, so that a high pace does not hold everything else up. */
const BATCH_MAX_TICKS = 2_000;

interface ReplayOptions {
  /** Entries TICKER=path, files of ticks in any format the importer reads. */
  files: readonly string[];
  /** 1 is the recorded pace. */
  pace: number;
  /** now: the first tick is stamped with the start, the others keep their distance (divided by the pace); none: own times. */
  shift: "now" | "none";
  listings: () => readonly Listing[];
  clock: Clock;
  log: Logger;
}

/**
 * Plays recorded ticks at their pace or a multiple of it, once, then ends. Whoever goes on with it where another stood gets what
 * came meanwhile at once, since the recording began at the same instant for both.
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
