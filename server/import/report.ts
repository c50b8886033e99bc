import type { Loaded } from "./load";
import type { Prepared } from "./prepare";
import { perSecond } from "./progress";

const n = (value: number) => value.toLocaleString("en-US");
const rows = (value: number) => `${n(value)} ${value === 1 ? "row" : "rows"}`;
const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** What a file was taken for, before its rows are stored. */
export function describe({ format, listing, clock, notes }: Prepared): string[] {
  const sure = clock.assumed ? "ASSUMED" : "taken";
  const hint = clock.assumed ? ". Say --tz if that is wrong" : "";
  return [
    `  ${format.title} (${format.id}), ${listing.ticker}`,
    `  clock ${clock.clock.title}, ${sure}: ${clock.because}${hint}`,
    ...notes.map((note) => `  ${note}`),
  ];
}

/** How it went, and everything that was left out or put right. */
export function summarise({ counts, malformed, ms, stopped }: Loaded, skippedRows: number, maxErrors: number): string[] {
  const lines = [
    `  ${rows(counts.rows)} read, ${n(counts.klines)} M1 klines stored, ${perSecond(counts.rows - skippedRows, ms)} rows/s`,
  ];
  const tell = (count: number, text: string) => {
    if (count > 0) lines.push(`  ${rows(count)} ${text}`);
  };
  if (!Number.isNaN(counts.firstMs)) lines.push(`  from ${instant(counts.firstMs)} to ${instant(counts.lastMs)}`);
  tell(counts.fillers, "without a quote (volume 0, one price) left out");
  tell(counts.repeated, "with the time of the row before: the later one counts");
  tell(counts.outOfOrder, "out of order, put in place");
  tell(counts.crossed, "with bid above ask, kept with spread 0");
  tell(counts.withoutQuote, "without bid and ask left out");
  tell(counts.malformed, "malformed and left out:");
  for (const { line, reason } of malformed) lines.push(`    line ${line}: ${reason}`);
  if (counts.malformed > malformed.length) lines.push(`    and ${n(counts.malformed - malformed.length)} more`);
  if (stopped === "interrupted") lines.push("  INTERRUPTED: run the same command again and it goes on from here");
  if (stopped === "too many malformed rows")
    lines.push(`  STOPPED: more than ${n(maxErrors)} malformed rows (--max-errors). What was read before is stored`);
  return lines;
}
