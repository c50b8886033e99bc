import type { Tick } from "#lib/domain/tick";
import { countText } from "#server/cli/words";
import type { Counted, TickerTrial } from "./trial";

const PERCENT = 100;

/** What the report says of where the ticks come from. */
interface ReadSource {
  /** As in "5 files". */
  readonly source: string;
  /** Rows that could not be read. */
  readonly unread: number;
}

/** Columns of text, each as wide as its widest cell; the last ones, from `right` on, are numbers. */
function columns(rows: readonly (readonly string[])[], right: number): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => (column < right ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

const exampleOf = ({ time_msc, bid, ask, volume }: Tick) =>
  `    ${timeText(time_msc)}  ${bid} / ${ask}${volume === undefined ? "" : `  volume ${volume}`}`;

/** The longest times that a date can have are those of a mistake. */
function timeText(ms: number): string {
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? `${ms} ms` : at.toISOString();
}

/** Lines of a table, each with its examples. */
function withExamples(lines: readonly string[], counted: readonly Counted[]): string[] {
  const [head = "", ...rest] = lines;
  return [head, ...rest.flatMap((line, at) => [line, ...(counted[at]?.examples ?? []).map(exampleOf)])];
}

function heldBackLines(trials: readonly TickerTrial[]): string[] {
  const found = trials.flatMap(({ ticker, ticks, heldBack }) =>
    [...heldBack].map(([reason, counted]) => ({ ticker, ticks, reason, counted })),
  );
  if (found.length === 0) return ["No tick is held back."];
  const rows = found.map(({ ticker, ticks, reason, counted }) => [
    ticker,
    reason,
    countText(counted.count),
    countText(ticks),
    `${((PERCENT * counted.count) / ticks).toFixed(3)} %`,
  ]);
  const lines = columns([["ticker", "reason", "held back", "of ticks", "share"], ...rows], 2);
  return withExamples(
    lines,
    found.map(({ counted }) => counted),
  );
}

function differingLines(trials: readonly TickerTrial[]): string[] {
  const compared = trials.reduce((sum, trial) => sum + trial.compared, 0);
  if (compared === 0) return [];
  const found = trials.flatMap(({ ticker, differing }) => differing.map((each) => ({ ticker, ...each })));
  if (found.length === 0) return ["", `All ${countText(compared)} recorded outcomes are the same now.`];
  const rows = found.map(({ ticker, recorded, now, count }) => [ticker, recorded, now, countText(count)]);
  return [
    "",
    "Other outcomes than recorded:",
    ...withExamples(columns([["ticker", "recorded", "now", "ticks"], ...rows], 3), found),
  ];
}

/** The result of a trial as lines of text. */
export function reportLines(trials: readonly TickerTrial[], { source, unread }: ReadSource): string[] {
  const sum = (of: (trial: TickerTrial) => number) => trials.reduce((total, trial) => total + of(trial), 0);
  const refused = sum((trial) => [...trial.refused.values()].reduce((total, { count }) => total + count, 0));
  const beside = [
    `${countText(sum(({ ticks }) => ticks))} ticks of ${source}`,
    ...(refused > 0 ? [`${countText(refused)} refused before the filters (repeated, out of order, crossed …)`] : []),
    ...(unread > 0 ? [`${countText(unread)} ${unread === 1 ? "row" : "rows"} could not be read`] : []),
  ];
  const wide = sum((trial) => trial.wide);
  return [
    beside.join(", "),
    "",
    ...heldBackLines(trials),
    ...(wide > 0 ? ["", `${countText(wide)} more with an unusually wide spread are taken.`] : []),
    ...differingLines(trials),
  ];
}
