/** One line of the bench table. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** This contestant against the anchor of its group, and what is aimed at. */
  readonly ratio?: Ratio;
}

interface Ratio {
  readonly value: number;
  readonly target: number;
  readonly against: string;
  /** Where the target lies: at least it unless said otherwise. */
  readonly bound?: "at least" | "at most";
}

/** Prints rows as a Markdown table, so that it can be kept as it is. */
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
