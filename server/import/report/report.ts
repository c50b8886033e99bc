import type { Timeframe } from "#lib/contract/primitives";
import { printableName } from "#lib/printable";
import { EXIT_DONE, EXIT_FAILED, type UsageError } from "#server/cli/usage-error";
import { countText, secondText } from "#server/cli/words";
import type { Doubt } from "#server/import/checks/doubts";
import { exitCodeOf, type ImportFailure, Unsure } from "#server/import/failure";
import type { Source } from "#server/import/files/archives";
import type { Recognition } from "#server/import/formats/format";
import { CROSSED, MISALIGNED } from "#server/import/load/klines";
import type { Kept, Loaded, Outcome } from "#server/import/load/load";
import { perSecond, type Terminal } from "#server/import/progress";
import type { Role } from "#server/import/rows/row";
import type { Prepared } from "#server/import/survey/survey";
import { addCounts, NO_KLINES } from "#server/store/klines/kline-batches";

/** Files with a report of their own. After them, only what differs is printed. */
const FULL_FILES_COUNT = 10;

const rows = (value: number) => `${countText(value)} ${value === 1 ? "row" : "rows"}`;

/** Prints what happens to each file; with many files, only what differs from the file before. */
export type Report = ReturnType<typeof createReport>;

export function createReport({ line }: Pick<Terminal, "line">) {
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
    /** Begins a file. */
    file(next: string): void {
      files += 1;
      if (files === FULL_FILES_COUNT + 1) line("From here on, files are printed only where something differs.");
      name = printableName(next);
      if (isFull()) {
        line(name);
        name = "";
      }
    },
    /** What was detected. */
    detected(lines: readonly string[]): void {
      const text = lines.join("\n");
      if (isFull() || text !== last) print(lines);
      last = text;
    },
    /** How it went; `usual` lines are left out with many files. */
    result(usual: readonly string[], notable: readonly string[]): void {
      if (isFull()) print(usual);
      print(notable);
    },
  };
}

/** Roles in words, where they are others. */
const ROLE_WORDS: Readonly<Partial<Record<Role, string>>> = {
  timeOfDay: "time of day",
  dateTime: "time",
  epoch: "Unix time",
  sinceMidnight: "milliseconds since midnight",
  askOpen: "ask open",
  askHigh: "ask high",
  askLow: "ask low",
  askClose: "ask close",
  midOpen: "mid open",
  midHigh: "mid high",
  midLow: "mid low",
  midClose: "mid close",
  tickVolume: "tick volume",
  realVolume: "real volume",
};

/** What each column of a text was taken for. */
function columnLines({ layout }: Recognition): string[] {
  if (layout === null) return [];
  const roles = layout.roles.map((role, column) => ({ role, number: column + 1 }));
  const read = roles.flatMap(({ role, number }) => (role === null ? [] : [`${number} ${ROLE_WORDS[role] ?? role}`]));
  const unread = roles.flatMap(({ role, number }) => (role === null ? [number] : []));
  return [`  columns: ${read.join(", ")}${unread.length > 0 ? `; not read: ${unread.join(", ")}` : ""}`];
}

/** What was detected about a file, before its rows are stored. */
export function describe({ source, format, recognition, listing, timeframe, clock, notes }: Prepared): string[] {
  const form = source.form === undefined ? "" : `${source.form}, read as `;
  return [
    `  ${form}${format.title} (${format.id}), ${listing.ticker}${timeframe === "M1" ? "" : `, klines of ${timeframe}`}`,
    ...columnLines(recognition),
    `  clock ${clock.clock.title}: ${clock.because}`,
    ...notes.map((note) => `  ${note}`),
  ];
}

/** Doubts about a file. */
export function doubtLines(doubts: readonly Doubt[], accepted: boolean): string[] {
  return doubts.flatMap(({ reason, rows }) => [
    `  DOUBTFUL${accepted ? ", accepted" : ""}: ${reason}`,
    ...rows.map((row) => `    ${row}`),
  ]);
}

/** The result in figures. */
export function figuresOf({ timeframe, sample: { spacing } }: Prepared, loaded: Loaded, trial: boolean): string[] {
  const { counts, klines, ticks, first, skippedRows, ms } = loaded;
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
  if (spacing.kept < spacing.steps)
    lines.push(`  step ${timeframe}: ${countText(spacing.kept)} of the first ${countText(spacing.steps)} between its rows`);
  if (!Number.isNaN(counts.firstMs)) lines.push(`  from ${secondText(counts.firstMs)} to ${secondText(counts.lastMs)}`);
  // A person sees whether its times are those of the starts of klines.
  if (trial && first.length > 0)
    lines.push(`  first ${timeframe} klines, UTC, open, high, low, close:`, ...first.map((row) => `    ${row}`));
  else if (first[0] !== undefined) lines.push(`  first ${timeframe} kline, UTC, open, high, low, close: ${first[0]}`);
  return lines;
}

/** Everything that was skipped, corrected or unexpected. */
export function odditiesOf({ source, timeframe, recognition }: Prepared, loaded: Loaded): string[] {
  const { counts, klines, misaligned, closedHours } = loaded;
  const lines: string[] = [];
  const tell = (count: number, text: string) => {
    if (count > 0) lines.push(`  ${rows(count)} ${text}`);
  };
  tell(counts.fillers, "skipped: no quote (volume 0, one price)");
  tell(counts.repeated, "with the time of the row before: the later row counts");
  tell(counts.outOfOrder, "out of order, sorted");
  tell(counts.crossed, `refused: ${CROSSED}`);
  tell(counts.misaligned, `refused: ${MISALIGNED}`);
  lines.push(...listed(source, misaligned, counts.misaligned));
  tell(counts.withoutQuote, `skipped: no price${recognition.kind === "ticks" ? " (no bid and ask)" : ""}`);
  tell(counts.headers, "skipped: the header line again");
  tell(counts.notTaken, "skipped: the service did not take these ticks");
  if (counts.unfinished > 0)
    lines.push(`  the current ${timeframe === "M1" ? "minute" : `${timeframe} kline`} is skipped: it is not over`);
  if (klines.conflicting > 0)
    lines.push(
      `  CONFLICTS: ${countText(klines.conflicting)} ${timeframe} klines repeat ${timeframe === "M1" ? "a minute" : "one"} of these files with other values`,
    );
  if (closedHours.count > 0 && closedHours.first !== null)
    lines.push(
      `  ${countText(closedHours.count)} ${timeframe} klines in hours in which the calendar is closed, the first at ${secondText(closedHours.first * 1000)}`,
    );
  return [...lines, ...malformedLines(source, loaded)];
}

/** Rows that were not taken: the first ones, and how many more. */
function listed({ form }: Source, refused: Loaded["malformed"], count: number): string[] {
  // Rows of other forms than text have no line.
  const place = (line: number) => (form === undefined ? `line ${line}` : `row ${line - 1}`);
  const more = count - refused.length;
  const lines = refused.map(({ line, reason }) => `    ${place(line)}: ${reason}`);
  return more > 0 ? [...lines, `    and ${countText(more)} more`] : lines;
}

/** The malformed rows of a file. */
export function malformedLines(source: Source, { counts, malformed, failure }: Outcome): string[] {
  if (counts.malformed === 0) return [];
  const skipped = failure === null ? " and skipped" : "";
  return [`  ${rows(counts.malformed)} malformed${skipped}:`, ...listed(source, malformed, counts.malformed)];
}

/** What is stored of a file that ended early; nothing where none of it is. */
export function keptText({ rows: count, lastMs }: Kept): string {
  if (count === 0) return "";
  const until = Number.isNaN(lastMs) ? "" : `, up to ${secondText(lastMs)}`;
  return `its first ${count === 1 ? "row is" : `${countText(count)} rows are`} stored${until}`;
}

/** Names of refused files that are listed for each reason. */
const NAMES_LISTED_COUNT = 3;
/** Reasons that are listed. */
const REASONS_LISTED_COUNT = 20;
/** Reasons of rows that are kept. */
const REASONS_MAX_COUNT = 1_000;

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

/** What an import of several files came to. */
export type Summary = ReturnType<typeof createSummary>;

/**
 * @param trial true when nothing is stored
 * @param accepted true where the operator accepts what is doubtful: klines of one time with different values, too
 */
export function createSummary(trial: boolean, accepted: boolean) {
  let files = 0;
  let known = 0;
  /** Rows that earlier runs of the same import stored. */
  let resumedRows = 0;
  const rowReasons = createRowReasons();
  let total = { rows: 0, klines: { ...NO_KLINES }, ticks: 0, closedHours: 0 };
  /** Whether all klines are minutes. */
  let isMinutes = true;
  let exitCode: number = EXIT_DONE;
  const reasons = new Map<string, { message: string; unsure: boolean; names: string[] }>();

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
    return known + resumedRows > 0 || stored + alreadyThere + overwritten + covered > 0;
  };

  return {
    /** Begins a file, or an entry of an archive. */
    file(): void {
      files += 1;
    },
    /** What was read of the file. */
    add(timeframe: Timeframe, { counts, refused, klines, ticks, closedHours, failure, skippedRows }: Loaded): void {
      isMinutes &&= timeframe === "M1";
      resumedRows += skippedRows;
      if (failure === null) rowReasons.add(refused);
      total = {
        rows: total.rows + counts.rows,
        klines: addCounts(total.klines, klines),
        ticks: total.ticks + ticks,
        closedHours: total.closedHours + closedHours.count,
      };
    },
    /** The file was imported before. */
    known(): void {
      known += 1;
    },
    /** The file was not imported, or not to its end. */
    refuse(name: string, error: ImportFailure | UsageError): void {
      exitCode = Math.max(exitCode, exitCodeOf(error));
      const key = reasonKey(name, error.message);
      const reason = reasons.get(key) ?? { message: error.message, unsure: error instanceof Unsure, names: [] };
      reason.names.push(name);
      reasons.set(key, reason);
    },
    /** The operator interrupted the file. */
    interrupt(): void {
      exitCode = Math.max(exitCode, EXIT_FAILED);
    },
    /** Whether a file was not stored to its end, or none holds a kline. */
    failed: () => exitCode !== EXIT_DONE || !holdsAny(),
    /** The closing table. */
    lines(): string[] {
      const { rows, klines, ticks, closedHours } = total;
      const refusedRows = rowReasons.rows();
      const refused = [...reasons.values()].reduce((sum, { names }) => sum + names.length, 0);
      const beside = [
        ...(refused > 0 ? [`${countText(refused)} refused`] : []),
        ...(known > 0 ? [`${countText(known)} imported before`] : []),
      ];
      const behind = `kept behind ${isMinutes ? "corrections" : "stored M1"}`;
      const table: (readonly [string, string])[] = [
        ["files", [countText(files), ...beside].join(", ")],
        ["rows read", [countText(rows), ...(refusedRows > 0 ? [`${countText(refusedRows)} refused`] : [])].join(", ")],
        [trial ? "would be stored" : "stored", countText(klines.stored)],
        ["already there", countText(klines.alreadyThere)],
        [trial ? "would be overwritten" : "overwritten", countText(klines.overwritten)],
        // Of minutes there are rarely any.
        ...(isMinutes && klines.covered === 0 ? [] : [[behind, countText(klines.covered)] as const]),
        ["repeated in the files", countText(klines.repeated)],
        ["conflicting in the files", countText(klines.conflicting)],
        ["in closed hours", countText(closedHours)],
        ...(ticks > 0 ? [[trial ? "ticks that would be kept" : "ticks kept", countText(ticks)] as const] : []),
      ];
      const width = Math.max(...table.map(([label]) => label.length));
      return [
        `${trial ? "Trial" : "Result"}, ${isMinutes ? "M1 klines" : "klines"}:`,
        ...table.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`),
        ...refusals(),
        ...rowReasons.lines(),
      ];
    },
    exitCode(): number {
      return exitCode === EXIT_DONE && (rowReasons.rows() > 0 || (total.klines.conflicting > 0 && !accepted) || !holdsAny())
        ? EXIT_FAILED
        : exitCode;
    },
  };
}
