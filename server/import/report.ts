import type { Loaded } from "./load";
import type { Prepared } from "./prepare";
import { perSecond } from "./progress";

const n = (value: number) => value.toLocaleString("en-US");
const rows = (value: number) => `${n(value)} ${value === 1 ? "row" : "rows"}`;
const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** What was detected about a file, before its rows are stored. */
export function describe({ format, listing, clock, notes }: Prepared): string[] {
  const doubt = clock.assumed ? ", ASSUMED" : "";
  const hint = clock.assumed ? ". Set --tz if that is wrong" : "";
  return [
    `  ${format.title} (${format.id}), ${listing.ticker}`,
    `  clock ${clock.clock.title}${doubt}: ${clock.because}${hint}`,
    ...notes.map((note) => `  ${note}`),
  ];
}

/** The result, and everything that was skipped or corrected. */
export function summarise({ counts, malformed, ms, stopped }: Loaded, skippedRows: number, maxErrors: number): string[] {
  const lines = [
    `  ${rows(counts.rows)} read, ${n(counts.klines)} M1 klines stored, ${perSecond(counts.rows - skippedRows, ms)} rows/s`,
  ];
  const tell = (count: number, text: string) => {
    if (count > 0) lines.push(`  ${rows(count)} ${text}`);
  };
  if (!Number.isNaN(counts.firstMs)) lines.push(`  from ${instant(counts.firstMs)} to ${instant(counts.lastMs)}`);
  tell(counts.fillers, "skipped: no quote (volume 0, one price)");
  tell(counts.repeated, "with the time of the row before: the later row counts");
  tell(counts.outOfOrder, "out of order, sorted");
  tell(counts.crossed, "with bid above ask, kept with spread 0");
  tell(counts.withoutQuote, "skipped: no bid and ask");
  tell(counts.malformed, "malformed and skipped:");
  for (const { line, reason } of malformed) lines.push(`    line ${line}: ${reason}`);
  if (counts.malformed > malformed.length) lines.push(`    and ${n(counts.malformed - malformed.length)} more`);
  if (stopped === "interrupted") lines.push("  INTERRUPTED: run the same command again to resume");
  if (stopped === "too many malformed rows")
    lines.push(`  STOPPED: more than ${n(maxErrors)} malformed rows (--max-errors). Earlier rows are stored`);
  return lines;
}
