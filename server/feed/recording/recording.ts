import type { Clock } from "#lib/clock";
import type { TickRejection } from "#lib/contract/ingest";
import type { RecordingReport } from "#lib/contract/portal-feeds";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { createArchive } from "./archive";
import { createBacklog } from "./backlog";
import { type Disk, localDisk } from "./hour-file";
import { createWriter } from "./writer";

/** How often rows are stored: a killed process loses those of 5 seconds at most, with a second to store them. */
const FLUSH_INTERVAL_MS = 4 * SECOND_MS;
/** Rows are stored earlier once so many wait. */
const FLUSH_BYTES = 1_048_576;
/** Rows that may wait for a slow disk; past this, rows are left out. */
const BACKLOG_MAX_BYTES = 16_777_216;
/** How long a stop waits for the disk. */
const STOP_MAX_MS = 2 * SECOND_MS;

interface RecordingOptions {
  readonly folder: string;
  /** Days that are kept. */
  readonly days: number;
  /** Size of all files at most; the oldest hours are deleted first. */
  readonly maxBytes: number;
  /** The folder of a ticker's ticks: the provider that they come from, or push. */
  readonly upstreamOf: (ticker: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the number of rows that are left out. */
  readonly leftOut: (rows: number) => void;
  readonly disk?: Disk;
  /** Size of the rows that may wait; defaults to BACKLOG_MAX_BYTES. */
  readonly backlogMaxBytes?: number;
}

/** A running recording. */
interface RunningRecording {
  /** Records a tick and what became of it: null where it was taken. Neither waits nor throws. @param upstream where it is known */
  record(tick: Tick, outcome: TickRejection | null, receivedMs: number, upstream?: string): void;
  /** Stores what waits, unless the disk takes too long. */
  stop(): Promise<void>;
}

/** The recording of the ticks that reach a venue. */
export interface TickRecording {
  /** Starts to record. Only the process that decides about ticks does so. */
  start(): RunningRecording;
  report(): RecordingReport;
}

/** Makes the recording of a venue, which writes nothing before it is started. */
export function createRecording(options: RecordingOptions): TickRecording {
  const { folder, days, maxBytes, upstreamOf, clock, disk = localDisk, backlogMaxBytes = BACKLOG_MAX_BYTES } = options;
  const log = options.log.child({ folder });
  const archive = createArchive(folder);
  let running = 0;
  let leftOut = 0;
  let problem: string | null = null;

  /** Says what is wrong, once until it is right again. */
  function trouble(text: string, err?: unknown): void {
    if (problem === null) log.error({ err }, `recording of ticks: ${text}`);
    problem = text;
  }

  function leaveOut(rows: number, why: string): void {
    leftOut += rows;
    options.leftOut(rows);
    trouble(why);
  }

  function start(): RunningRecording {
    const backlog = createBacklog({ maxBytes: backlogMaxBytes, upstreamOf });
    const noRoom = (rows: number) => leaveOut(rows, "an hour needs more than FEED_RECORD_MAX_MIB");
    const writer = createWriter({ archive, backlog, days, maxBytes, disk, clock, noRoom });
    /** True from a failure until rows are stored again: then it is tried at the usual times only. */
    let failing = false;
    const stopping = new AbortController();
    let waking = new AbortController();
    let woken = false;
    const wakeable: Clock = {
      now: clock.now,
      wait(ms, signal) {
        waking = new AbortController();
        woken = false;
        return signal?.aborted ? Promise.resolve() : clock.wait(ms, waking.signal);
      },
    };

    async function flush(): Promise<void> {
      const leftOutBefore = leftOut;
      await writer.flush();
      failing = false;
      if (problem === null || leftOut > leftOutBefore) return;
      log.info({ leftOut }, "recording of ticks: works again");
      problem = null;
    }

    function failed(error: unknown): void {
      failing = true;
      trouble(error instanceof Error ? error.message : String(error), error);
    }
    const loop = { clock: wakeable, signal: stopping.signal, pause: FLUSH_INTERVAL_MS, atOnce: true, onError: failed };
    const ended = repeat(loop, flush).then(writer.end);
    // A stop awaits it.
    ended.catch(() => undefined);
    running += 1;
    return {
      record(tick, outcome, receivedMs, upstream) {
        // It belongs to no instrument, and there is no end of such tickers.
        if (outcome === "unknown_ticker") return;
        if (!backlog.add(tick, outcome, receivedMs, upstream)) leaveOut(1, "the disk is too slow");
        if (woken || failing || backlog.bytes() < FLUSH_BYTES) return;
        woken = true;
        waking.abort();
      },
      async stop() {
        stopping.abort();
        waking.abort();
        await withTimeout(ended, STOP_MAX_MS, clock).catch(failed);
        running -= 1;
        if (backlog.count() > 0) leaveOut(backlog.count(), "stopped before all rows were stored");
      },
    };
  }

  return {
    start,
    report() {
      const oldestMs = archive.oldestMs();
      return {
        ...{ folder, days, active: running > 0, bytes: archive.bytes(), max_bytes: maxBytes, left_out: leftOut, problem },
        oldest_at: oldestMs === undefined ? null : new Date(oldestMs).toISOString(),
      };
    },
  };
}
