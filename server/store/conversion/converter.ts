import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { type Backoff, type Repeating, startRepeating } from "#lib/repeat";
import { isDatabaseAway } from "#lib/storage-errors";
import { SECOND_MS } from "#lib/units";
import { type Database, reasonOf } from "#server/store/database/db";
import { type Converted, convertTicker } from "./convert";

/** The wait before tickers that could not be converted are tried again. */
const RETRY: Backoff = { firstMs: 10 * SECOND_MS, longestMs: 600 * SECOND_MS };
/** The least pause after a month. Usually it is as long as the month took, so that half of the time is left to others. */
const PAUSE_MIN_MS = 20;

const WAITING = "SELECT ticker FROM history_unconverted ORDER BY ticker";

/** How far the conversion of all tickers is, as this node knows. */
interface ConverterReport {
  /** Tickers that are not converted yet. */
  readonly waiting: number;
  /** The one that this node converts, and how much of it is done, 0 to 1; null between two. */
  readonly ticker: string | null;
  readonly share: number;
  /** Klines that showed before and that show now, of the tickers that this node has converted. */
  readonly rowsIn: number;
  readonly rowsOut: number;
  /** Why a ticker could not be converted at the last attempt. */
  readonly problem: string | null;
}

/** Converts, in the background, what an earlier release stored. */
interface Converter extends Repeating {
  report(): ConverterReport;
}

interface ConverterOptions {
  readonly db: Pick<Database, "pool" | "client" | "segments" | "control">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Some tickers wait for another attempt. */
class Unfinished extends Error {
  override readonly name = "Unfinished";
}

/**
 * Converts the tickers that wait, one after the other, and pauses after each month. A ticker whose history another node or command is
 * changing is skipped until the next pass, so several nodes may do this at once. Every node is notified of each converted ticker.
 */
export function createConverter({ db, clock, log }: ConverterOptions): Converter {
  let state: ConverterReport = { waiting: 0, ticker: null, share: 0, rowsIn: 0, rowsOut: 0, problem: null };
  let isDone = false;
  const note = (changes: Partial<ConverterReport>) => {
    state = { ...state, ...changes };
  };

  async function convertOne(ticker: string, signal: AbortSignal): Promise<Converted | null> {
    const before = state;
    note({ ticker, share: 0 });
    try {
      let beganMs = clock.now();
      const converted = await convertTicker(db, ticker, {
        signal,
        async onProgress({ share, rowsIn, rowsOut }) {
          note({ share, rowsIn: before.rowsIn + rowsIn, rowsOut: before.rowsOut + rowsOut });
          await clock.wait(Math.max(PAUSE_MIN_MS, clock.now() - beganMs), signal);
          beganMs = clock.now();
        },
      });
      const { rowsIn, rowsOut } = converted ?? { rowsIn: 0, rowsOut: 0 };
      note({ rowsIn: before.rowsIn + rowsIn, rowsOut: before.rowsOut + rowsOut });
      return converted;
    } catch (error) {
      note({ rowsIn: before.rowsIn, rowsOut: before.rowsOut });
      throw error;
    } finally {
      note({ ticker: null, share: 0 });
    }
  }

  async function pass(signal: AbortSignal): Promise<void> {
    const { rows } = await db.pool.query<{ ticker: string }>(WAITING);
    note({ waiting: rows.length });
    let problem: string | null = null;
    for (const { ticker } of rows) {
      if (signal.aborted) return;
      try {
        const converted = await convertOne(ticker, signal);
        if (converted === null) continue;
        note({ waiting: state.waiting - 1 });
        log.info({ ticker, ...converted }, "moved the klines of an earlier release");
        await db.control.publish({ kind: "klines", venue: "live", ticker });
      } catch (error) {
        if (signal.aborted) return;
        if (isDatabaseAway(error)) throw error;
        problem = `${ticker}: ${reasonOf(error)}`;
        log.error(
          { ticker, reason: reasonOf(error) },
          "cannot move the klines of an earlier release; they are read as they were",
        );
      }
    }
    note({ problem });
    if (state.waiting > 0) throw new Unfinished();
    isDone = true;
  }

  const repeating = startRepeating(
    {
      clock,
      pause: RETRY,
      atOnce: true,
      until: () => isDone,
      onError(error) {
        if (error instanceof Unfinished) return;
        note({ problem: reasonOf(error) });
        log.warn({ reason: reasonOf(error) }, "cannot move the klines of an earlier release now");
      },
    },
    pass,
  );
  return { report: () => state, stop: repeating.stop };
}
