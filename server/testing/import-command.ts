import { type Clock, manualClock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import type { Kline } from "#lib/domain/kline";
import { parseArguments } from "#server/cli/run-command";
import { exitCodeOf, isFileError } from "#server/import/failure";
import { IMPORT_BOUNDS, type ImportBounds } from "#server/import/load/load";
import { OPTIONS, readOptions } from "#server/import/options";
import { runImport } from "#server/import/run";
import type { Database } from "#server/store/database/db";
import { createKlineStore } from "#server/store/klines/kline-store";

/** The clock of imports in tests: later than all data. */
export const IMPORT_NOW_MS = Date.UTC(2026, 6, 1);

/** The output and exit code of a command. */
interface CommandResult {
  readonly exitCode: number;
  readonly text: string;
}

interface CommandOptions extends Partial<ImportBounds> {
  readonly clock?: Clock;
  /** Sends Ctrl-C at the first line of progress for which this is true. */
  readonly interruptAt?: (line: string) => boolean;
}

/** Runs `npm run import -- argv` against a database, in this process. */
export async function importCommand(
  database: Database,
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const lines: string[] = [];
  const stopping = new AbortController();
  const terminal = {
    bar: null,
    line(text: string) {
      lines.push(text);
      if (options.interruptAt?.(text)) stopping.abort();
    },
  };
  try {
    const { values, positionals } = parseArguments(OPTIONS, argv);
    const parsed = readOptions(values, positionals);
    const { clock = manualClock(IMPORT_NOW_MS), interruptAt: _, ...fewer } = options;
    const context = {
      options: parsed,
      database,
      terminal,
      clock,
      signal: stopping.signal,
      bounds: { ...IMPORT_BOUNDS, ...fewer },
    };
    const exitCode = await runImport(context);
    return { exitCode, text: lines.join("\n") };
  } catch (error) {
    if (!isFileError(error)) throw error;
    return { exitCode: exitCodeOf(error), text: [...lines, error.message].join("\n") };
  }
}

const EMPTY =
  "TRUNCATE tick_tail, tick_segment, kline_tail, history_layer, history_visible, history_derived, import_job, backfill CASCADE";

/** Removes all history, and what is known of imports. */
export const emptyHistory = ({ pool }: Database) => pool.query(EMPTY);

/** A clock that advances with each reading, so progress is printed each time. */
export function hurriedClock(): Clock {
  let nowMs = IMPORT_NOW_MS;
  return {
    now() {
      nowMs += 6_000;
      return nowMs;
    },
    wait: async () => undefined,
  };
}

/** All stored klines of a series of the live venue. */
export function storedKlines(database: Database, ticker: string, timeframe: Timeframe): Promise<Kline[]> {
  const store = createKlineStore(database);
  return store.read({ ticker, timeframe, from: 0, to: IMPORT_NOW_MS / 1000, limit: 10_000_000, end: "oldest" });
}
