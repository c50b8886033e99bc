import type { Timeframe } from "#lib/contract/primitives";
import { addCounts, type BatchCounts, NO_KLINES } from "#lib/market/kline-batches";
import { printableName } from "#lib/printable";
import { EXIT_DONE, EXIT_FAILED, type UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { exitCodeOf, type ImportFailure, Unsure } from "./failure";

/** Names of refused files that are listed for each reason. */
const NAMES_LISTED_COUNT = 3;
/** Reasons that are listed. */
const REASONS_LISTED_COUNT = 20;
/** Reasons of rows that are kept. */
const REASONS_MAX_COUNT = 1_000;

/** What an import of several files came to. */
export interface Tally {
  /** Begins a file, or an entry of an archive. */
  file(): void;
  /** What was read of the file. */
  add(part: TallyPart): void;
  /** The file was imported before. */
  known(): void;
  /** The file was not imported, or not to its end. */
  refuse(name: string, error: ImportFailure | UsageError): void;
  /** The operator interrupted the file. */
  interrupt(): void;
  /** The closing table. */
  lines(): string[];
  /** Whether a file was not stored to its end, or none holds a kline. */
  failed(): boolean;
  exitCode(): number;
}

/** What one file came to. */
export interface TallyPart {
  readonly timeframe: Timeframe;
  readonly rows: number;
  /** Refused rows by reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly klines: BatchCounts;
  /** Ticks that are kept. */
  readonly ticks: number;
  readonly closedHours: number;
}

/** Messages that differ only in the file and in numbers are one reason. */
function reasonKey(name: string, message: string): string {
  return message.replaceAll(name, "").replace(/\d+/g, "#");
}

/** Refused rows, grouped by reason. */
function createRowReasons() {
  const reasons = new Map<string, { reason: string; count: number }>();
  let rows = 0;
  return {
    rows: () => rows,
    add(refused: ReadonlyMap<string, number>): void {
      for (const [reason, count] of refused) {
        rows += count;
        const key = reasonKey("", reason);
        const known = reasons.get(key);
        if (known !== undefined) known.count += count;
        else if (reasons.size < REASONS_MAX_COUNT) reasons.set(key, { reason, count });
      }
    },
    lines(): string[] {
      const most = [...reasons.values()].sort((a, b) => b.count - a.count).slice(0, REASONS_LISTED_COUNT);
      return most.map(({ reason, count }) => `  REFUSED, ${count === 1 ? "1 row" : `${countText(count)} rows`}: ${reason}`);
    },
  };
}

/** The line about klines that are stored and do not show. Of minutes there are rarely any. */
function coveredOf(count: number, isMinutes: boolean): [string, string][] {
  if (!isMinutes) return [["kept behind stored M1", countText(count)]];
  return count === 0 ? [] : [["kept behind corrections", countText(count)]];
}

/** @param trial true when nothing is stored */
export function createTally(trial: boolean): Tally {
  let files = 0;
  let known = 0;
  const rowReasons = createRowReasons();
  let total = { rows: 0, klines: { ...NO_KLINES }, ticks: 0, closedHours: 0 };
  /** Whether all klines are minutes. */
  let isMinutes = true;
  let exitCode: number = EXIT_DONE;
  const reasons = new Map<string, { message: string; unsure: boolean; names: string[] }>();

  function note(name: string, message: string, unsure: boolean): void {
    const key = reasonKey(name, message);
    const reason = reasons.get(key) ?? { message, unsure, names: [] };
    reason.names.push(name);
    reasons.set(key, reason);
  }

  function refusals(): string[] {
    const lines: string[] = [];
    for (const { message, unsure, names } of [...reasons.values()].slice(0, REASONS_LISTED_COUNT)) {
      const count = names.length === 1 ? "1 file" : `${countText(names.length)} files`;
      lines.push(`  ${unsure ? "UNSURE" : "REFUSED"}, ${count}: ${message}`);
      const more = names.length - NAMES_LISTED_COUNT;
      const listed = names.slice(0, NAMES_LISTED_COUNT).map(printableName).join(", ");
      lines.push(`    ${listed}${more > 0 ? ` and ${countText(more)} more` : ""}`);
    }
    const hidden = reasons.size - REASONS_LISTED_COUNT;
    if (hidden > 0) lines.push(`  and files refused for ${countText(hidden)} more reasons`);
    return lines;
  }

  /** Whether the files hold any kline that is stored, now or before. */
  const holdsAny = () => {
    const { stored, alreadyThere, overwritten, covered } = total.klines;
    return known > 0 || stored + alreadyThere + overwritten + covered > 0;
  };

  return {
    file() {
      files += 1;
    },
    add({ timeframe, rows, refused, klines, ticks, closedHours }) {
      isMinutes &&= timeframe === "M1";
      rowReasons.add(refused);
      total = {
        rows: total.rows + rows,
        klines: addCounts(total.klines, klines),
        ticks: total.ticks + ticks,
        closedHours: total.closedHours + closedHours,
      };
    },
    known() {
      known += 1;
    },
    refuse(name, error) {
      exitCode = Math.max(exitCode, exitCodeOf(error));
      note(name, error.message, error instanceof Unsure);
    },
    interrupt() {
      exitCode = Math.max(exitCode, EXIT_FAILED);
    },
    failed: () => exitCode !== EXIT_DONE || !holdsAny(),
    lines() {
      const { rows, klines, ticks, closedHours } = total;
      const refusedRows = rowReasons.rows();
      const refused = [...reasons.values()].reduce((sum, { names }) => sum + names.length, 0);
      const beside = [
        ...(refused > 0 ? [`${countText(refused)} refused`] : []),
        ...(known > 0 ? [`${countText(known)} imported before`] : []),
      ];
      const table: [string, string][] = [
        ["files", [countText(files), ...beside].join(", ")],
        ["rows read", [countText(rows), ...(refusedRows > 0 ? [`${countText(refusedRows)} refused`] : [])].join(", ")],
        [trial ? "would be stored" : "stored", countText(klines.stored)],
        ["already there", countText(klines.alreadyThere)],
        [trial ? "would be overwritten" : "overwritten", countText(klines.overwritten)],
        ...coveredOf(klines.covered, isMinutes),
        ["repeated in the files", countText(klines.repeated)],
        ["conflicting in the files", countText(klines.conflicting)],
        ["in closed hours", countText(closedHours)],
        ...(ticks > 0 ? [[trial ? "ticks that would be kept" : "ticks kept", countText(ticks)] as [string, string]] : []),
      ];
      const width = Math.max(...table.map(([label]) => label.length));
      return [
        `${trial ? "Trial" : "Result"}, ${isMinutes ? "M1 klines" : "klines"}:`,
        ...table.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
        ...refusals(),
        ...rowReasons.lines(),
      ];
    },
    exitCode() {
      return exitCode === EXIT_DONE && (rowReasons.rows() > 0 || !holdsAny()) ? EXIT_FAILED : exitCode;
    },
  };
}
