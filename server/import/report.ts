import type { Timeframe } from "#lib/contract/primitives";
import type { KlineColumns } from "#lib/domain/columns";
import { printableName } from "#lib/printable";
import { countText } from "#server/cli/words";
import type { ClosedHours } from "./closed-hours";
import { rowText } from "./doubt";
import { CROSSED, MISALIGNED } from "./ledger";
import type { Loaded } from "./load";
import type { Prepared } from "./prepare";
import { perSecond, type Terminal } from "./progress";

/** Files with a report of their own. After them, only what differs is printed. */
const FULL_FILES_COUNT = 10;
/** Klines that a trial shows of a file. */
const SAMPLE_KLINES_COUNT = 3;

const rows = (value: number) => `${countText(value)} ${value === 1 ? "row" : "rows"}`;
const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Prints what happens to each file; with many files, only what differs from the file before. */
export interface Report {
  /** Begins a file. */
  file(name: string): void;
  /** What was detected. */
  detected(lines: readonly string[]): void;
  /** How it went; `usual` lines are left out with many files. */
  result(usual: readonly string[], notable: readonly string[]): void;
}

export function createReport({ line }: Pick<Terminal, "line">): Report {
  let files = 0;
  let name = "";
  let last = "";
  const isFull = () => files <= FULL_FILES_COUNT;
  function print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (name !== "") line(name);
    name = "";
    for (const text of lines) line(text);
  }
  return {
    file(next) {
      files += 1;
      if (files === FULL_FILES_COUNT + 1) line("From here on, files are printed only where something differs.");
      name = printableName(next);
      if (isFull()) {
        line(name);
        name = "";
      }
    },
    detected(lines) {
      const text = lines.join("\n");
      if (isFull() || text !== last) print(lines);
      last = text;
    },
    result(usual, notable) {
      if (isFull()) print(usual);
      print(notable);
    },
  };
}

/** Keeps the first klines of a file, for a trial. */
export function createSamples(timeframe: Timeframe) {
  const kept: string[] = [];
  return {
    add(klines: KlineColumns): void {
      for (let row = 0; row < klines.time.length && kept.length < SAMPLE_KLINES_COUNT; row += 1)
        kept.push(`    ${rowText(klines, row)}`);
    },
    lines(): string[] {
      return kept.length === 0 ? [] : [`  first ${timeframe} klines, UTC, open, high, low, close:`, ...kept];
    },
  };
}

/** What was detected about a file, before its rows are stored. */
export function describe({ source, format, listing, timeframe, clock, notes }: Prepared): string[] {
  const form = source.form === undefined ? "" : `${source.form}, read as `;
  return [
    `  ${form}${format.title} (${format.id}), ${listing.ticker}${timeframe === "M1" ? "" : `, klines of ${timeframe}`}`,
    `  clock ${clock.clock.title}: ${clock.because}`,
    ...notes.map((note) => `  ${note}`),
  ];
}

/** What a report needs to know beside the result. */
interface Circumstances {
  readonly timeframe: Timeframe;
  /** Rows that an earlier run stored. */
  readonly skippedRows: number;
  readonly maxErrors: number;
  readonly closedHours: Pick<ClosedHours, "count" | "first">;
  readonly trial: boolean;
  /** True for a file whose rows are not lines of text. */
  readonly countsRows: boolean;
}

/** The result in figures. */
export function summarise({ counts, klines, ticks, ms }: Loaded, { timeframe, skippedRows, trial }: Circumstances): string[] {
  const { stored, alreadyThere, overwritten, covered } = klines;
  const would = trial ? "would be " : "";
  const rest = [
    ...(alreadyThere > 0 ? [`${countText(alreadyThere)} already there`] : []),
    ...(overwritten > 0 ? [`${countText(overwritten)} ${would}overwritten`] : []),
    ...(covered > 0 ? [`${countText(covered)} kept behind ${timeframe === "M1" ? "corrections" : "stored M1"}`] : []),
    ...(ticks > 0 ? [`${countText(ticks)} ticks ${would}kept`] : []),
  ];
  const lines = [
    `  ${rows(counts.rows)} read, ${[`${countText(stored)} ${timeframe} klines ${would}stored`, ...rest].join(", ")}, ${perSecond(counts.rows - skippedRows, ms)} rows/s`,
  ];
  if (!Number.isNaN(counts.firstMs)) lines.push(`  from ${instant(counts.firstMs)} to ${instant(counts.lastMs)}`);
  return lines;
}

/** Everything that was skipped, corrected or unexpected. */
export function notable({ counts, klines, malformed, stopped }: Loaded, circumstances: Circumstances): string[] {
  const { timeframe, closedHours, maxErrors, countsRows } = circumstances;
  const lines: string[] = [];
  const tell = (count: number, text: string) => {
    if (count > 0) lines.push(`  ${rows(count)} ${text}`);
  };
  tell(counts.fillers, "skipped: no quote (volume 0, one price)");
  tell(counts.repeated, "with the time of the row before: the later row counts");
  tell(counts.outOfOrder, "out of order, sorted");
  tell(counts.crossed, `refused: ${CROSSED}`);
  tell(counts.misaligned, `refused: ${MISALIGNED}`);
  tell(counts.withoutQuote, "skipped: no bid and ask");
  tell(counts.notTaken, "skipped: the service did not take these ticks");
  if (counts.unfinished > 0)
    lines.push(`  the current ${timeframe === "M1" ? "minute" : `${timeframe} kline`} is skipped: it is not over`);
  if (klines.conflicting > 0)
    lines.push(
      `  CONFLICTS: ${countText(klines.conflicting)} ${timeframe} klines repeat ${timeframe === "M1" ? "a minute" : "one"} of these files with other values`,
    );
  if (closedHours.count > 0 && closedHours.first !== null)
    lines.push(
      `  ${countText(closedHours.count)} ${timeframe} klines in hours in which the calendar is closed, the first at ${instant(closedHours.first * 1000)}`,
    );
  tell(counts.malformed, "malformed and skipped:");
  for (const { line, reason } of malformed) lines.push(`    ${countsRows ? `row ${line - 1}` : `line ${line}`}: ${reason}`);
  if (counts.malformed > malformed.length) lines.push(`    and ${countText(counts.malformed - malformed.length)} more`);
  if (stopped === "interrupted") lines.push("  INTERRUPTED: run the same command again to resume");
  if (stopped === "too many malformed rows")
    lines.push(`  STOPPED: more than ${countText(maxErrors)} malformed rows (--max-errors). Earlier rows are stored`);
  return lines;
}
