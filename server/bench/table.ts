/** One line of the bench table. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** This contestant against the anchor of its group, and what is aimed at. */
  readonly ratio?: { readonly value: number; readonly target: number; readonly against: string };
}

/** Prints rows as a Markdown table, so that it can be kept as it is. */
export function printTable(rows: readonly Row[]): void {
  const lines = rows.map(({ what, value, ratio }) => {
    if (ratio === undefined) return `| ${what} | ${value} | | |`;
    const verdict = ratio.value >= ratio.target ? "reached" : "missed";
    return `| ${what} | ${value} | ${ratio.value.toFixed(2)} × ${ratio.against} | ≥ ${ratio.target} ${verdict} |`;
  });
  process.stdout.write(["| what | measured | ratio | target |", "|---|---|---|---|", ...lines, ""].join("\n"));
}
