import { type Spread, spreadText } from "./spread";

/** A row of the bench table. */
export interface Row {
  /** Names the row in the committed table, for `npm run bench:smoke`. */
  readonly id?: string;
  readonly what: string;
  /** The measured value with its unit, the median and the spread. */
  readonly value: string;
  /** What it is compared with, and its value in the same run. */
  readonly anchor?: string;
  readonly ratio?: Ratio;
}

interface Ratio {
  readonly value: number;
  /** The middle half of the ratios of single rounds. */
  readonly spread?: Pick<Spread, "low" | "high">;
  readonly target: number;
  readonly against: string;
  /** Whether the target is a minimum (default) or a maximum. */
  readonly bound?: "at least" | "at most";
}

/** A ratio of each round as the ratio of a row. */
export function ratioOf({ median, low, high }: Spread, rest: Omit<Ratio, "value" | "spread">): Ratio {
  return { value: median, spread: { low, high }, ...rest };
}

function ratioText({ value, spread, against }: Ratio): string {
  const text = spread === undefined ? value.toFixed(2) : spreadText({ median: value, ...spread });
  return `${text} × ${against}`;
}

const HEAD = ["case", "measured", "anchor", "ratio", "reach"];

/** Rows as a Markdown table with aligned columns, as the formatter of the repository wants it. */
export function tableText(rows: readonly Row[]): string {
  const cells = rows.map(({ what, value, anchor = "", ratio }) =>
    ratio === undefined ? [what, value, anchor, "", ""] : [what, value, anchor, ratioText(ratio), verdictOf(ratio)],
  );
  const widths = HEAD.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width) => "-".repeat(width));
  const lines = [HEAD, rule, ...cells].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | "));
  return `${lines.map((line) => `| ${line} |`).join("\n")}\n`;
}

/** The target, and whether it was met: "≥ 3 met". */
export function verdictOf({ value, target, bound = "at least" }: Ratio): string {
  const met = bound === "at most" ? value <= target : value >= target;
  return `${bound === "at most" ? "≤" : "≥"} ${target} ${met ? "met" : "missed"}`;
}
