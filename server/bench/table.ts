/** A row of the bench table. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** The ratio of this contestant to the anchor of its group, and its target. */
  readonly ratio?: Ratio;
}

interface Ratio {
  readonly value: number;
  readonly target: number;
  readonly against: string;
  /** Whether the target is a minimum (default) or a maximum. */
  readonly bound?: "at least" | "at most";
}

/** Prints rows as a Markdown table. */
export function printTable(rows: readonly Row[]): void {
  const lines = rows.map(({ what, value, ratio }) => {
    if (ratio === undefined) return `| ${what} | ${value} | | |`;
    return `| ${what} | ${value} | ${ratio.value.toFixed(2)} × ${ratio.against} | ${verdictOf(ratio)} |`;
  });
  process.stdout.write(["| what | measured | ratio | target |", "|---|---|---|---|", ...lines, ""].join("\n"));
}

/** The target, and whether it was reached: "≥ 3 reached". */
export function verdictOf({ value, target, bound = "at least" }: Ratio): string {
  const reached = bound === "at most" ? value <= target : value >= target;
  return `${bound === "at most" ? "≤" : "≥"} ${target} ${reached ? "reached" : "missed"}`;
}
