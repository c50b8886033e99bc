import type { Clock } from "#lib/clock";
import type { LackReason } from "#lib/contract/portal-data";
import type { Kline } from "#lib/domain/kline";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Mended, Mending } from "#lib/market/mending";
import { repeat } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";
import { LACKING_MAX_RANGES, type LackingMinutes, minutesTouched } from "#server/store/klines/lacking-minutes";
import type { WatchedMinutes } from "#server/store/klines/watched-minutes";
import { createMinuteWatch, type MinuteWatch } from "./minute-watch";
import type { Recorder } from "./recorder";

/** Interval at which it is stored which minutes were watched. */
const SAVE_INTERVAL_MS = 5_000;
/** Batches of minutes that wait to be stored; further ones are refused. */
const MENDS_WAITING_MAX_COUNT = 10;
/** The longest wait for what was recorded before. */
const WRITTEN_MAX_MS = 5_000;
const RETRY_AFTER_S = 5;

function refuse(detail: string): never {
  throw new Fault("service_unavailable", { detail: `${detail} Nothing was stored.`, retry_after: RETRY_AFTER_S });
}

/** Writes minutes after the fact, with the lease of this producer. */
export interface LeasedMender {
  /** @throws Fault service_unavailable when another node holds the lease */
  mend(klines: readonly Kline[], mending: Mending): Promise<Mended>;
  noteWatched(ranges: readonly WatchedMinutes[]): Promise<void>;
  noteLacking(ranges: readonly LackingMinutes[]): Promise<void>;
}

interface MinuteKeeperOptions {
  readonly mender: LeasedMender;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

/** Knows which minutes this producer watched, and mends others. */
export interface MinuteKeeper {
  readonly watch: MinuteWatch;
  /** Ticks of these tickers from `fromMs` to `toMs` (Unix ms) lack. */
  lacks(tickers: readonly string[], fromMs: number, toMs: number, reason: LackReason): void;
  /**
   * Stores closed minutes once everything recorded before is stored, one batch at a time.
   * @throws Fault service_unavailable when too many batches wait, or the mender refuses
   */
  mend(klines: readonly Kline[], mending: Mending): Promise<Mended>;
  /** Stores which minutes were watched, and which lack ticks, until `stopping` aborts; `save` does so once more, after the recorder has ended. */
  run(): Promise<void>;
  save(): Promise<void>;
}

/** Makes the keeper of a producer's minutes. */
export function createMinuteKeeper({ mender, recorder, clock, log, stopping }: MinuteKeeperOptions): MinuteKeeper {
  const watch = createMinuteWatch();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  /** Ranges that could not be stored yet. */
  let unsaved: WatchedMinutes[] = [];
  let lacking: LackingMinutes[] = [];

  async function saveLacking(): Promise<void> {
    const ranges = lacking;
    if (ranges.length === 0) return;
    await mender.noteLacking(ranges);
    lacking = lacking.filter((range) => !ranges.includes(range));
  }

  /** A minute counts as watched only when its ticks are stored, so a crash cannot lose ticks of a watched one. */
  async function save(): Promise<void> {
    await saveLacking();
    // Never added to in place, here and below: a save that runs at the same time knows by its own list what it stored.
    unsaved = [...unsaved, ...watch.take()];
    if (unsaved.length === 0) return;
    const ranges = [...new Map(unsaved.map((range) => [`${range.ticker} ${range.from}`, range])).values()];
    unsaved = ranges;
    const running = !stopping.aborted;
    if (running) await recorder.written(stopping);
    // Not written, because the recorder is about to end: saved once more when it has.
    if (running && stopping.aborted) return;
    await mender.noteWatched(ranges);
    unsaved = unsaved.filter((range) => !ranges.includes(range));
  }

  async function mendNow(klines: readonly Kline[], mending: Mending): Promise<Mended> {
    // Otherwise a minute that closed just now would be written over by the state that waits in the recorder.
    const written = recorder.written(stopping).then(save);
    await withTimeout(written, WRITTEN_MAX_MS, clock, stopping).catch(() =>
      refuse("The database does not take klines right now."),
    );
    if (stopping.aborted) refuse("This node is stopping.");
    return mender.mend(klines, mending);
  }

  return {
    watch,
    lacks(tickers, fromMs, toMs, reason) {
      const minutes = minutesTouched(fromMs, toMs);
      lacking = [...lacking, ...tickers.map((ticker) => ({ ticker, ...minutes, reason }))].slice(-LACKING_MAX_RANGES);
    },
    async mend(klines, mending) {
      if (waiting >= MENDS_WAITING_MAX_COUNT || stopping.aborted) refuse("Too many batches of klines are waiting.");
      waiting += 1;
      const turn = last.then(() => mendNow(klines, mending));
      last = turn.catch(() => undefined);
      return turn.finally(() => {
        waiting -= 1;
      });
    },
    async run() {
      const onError = (error: unknown, failures: number) => {
        if (failures === 1) log.warn({ err: error }, "cannot store which minutes were watched; retrying");
      };
      await repeat({ clock, signal: stopping, pause: SAVE_INTERVAL_MS, onError }, save);
      await last;
    },
    async save() {
      await save().catch((error: unknown) => log.warn({ err: error }, "cannot store which minutes were watched"));
    },
  };
}
