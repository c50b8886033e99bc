import { rounded, type Spread, spreadOf } from "./spread";

/** What the service and its rival took in the same rounds, and of each round the ratio of the first to the second. */
export interface Compared {
  /** The median. */
  readonly own: number;
  /** The median; missing when the rival is a fixed number. */
  readonly beside?: number | undefined;
  readonly ratio: Spread;
}

/** What a row of the table compares, without its figures. */
interface Question {
  /** Names the row in the committed table. */
  readonly id: string;
  /** The case and the unit of its figures. */
  readonly what: string;
  readonly against: string;
  /** The ratio to reach. */
  readonly target: number;
  /** Whether the target is a minimum or a maximum. */
  readonly bound: "at least" | "at most";
}

/** A row as one Node measured it. */
export type Row = Question & Compared;

/** A row of the table, with the figures of each Node, by its major version. */
export interface TableRow extends Question {
  readonly on: Readonly<Record<string, Compared>>;
}

/** Compares measurements of the same rounds. @throws Error when a round was not measured */
export function comparedOf(owns: readonly number[], besides: readonly number[]): Compared {
  const ratio = spreadOf(owns.map((own, round) => own / (besides[round] ?? Number.NaN)));
  return { own: spreadOf(owns).median, beside: spreadOf(besides).median, ratio };
}

/** A row whose figures are compared already. */
export function row(id: string, what: string, against: string, bound: Row["bound"], target: number, compared: Compared): Row {
  return { id, what, against, bound, target, ...compared };
}

/** A row whose rival is the most that a figure should be, in its unit. */
export function limited(id: string, what: string, unit: string, owns: readonly number[], most: number): Row {
  const { median: own } = spreadOf(owns);
  const ratio = spreadOf(owns.map((each) => each / most));
  return row(id, `${what}, ${unit}`, `${most} ${unit}`, "at most", 1, { own, ratio });
}

/** Joins what several Nodes measured, in the order of the rows of the first. */
export function joined(runs: Readonly<Record<string, readonly Row[]>>): TableRow[] {
  const rows = new Map<string, TableRow>();
  for (const [node, measured] of Object.entries(runs))
    for (const { own, beside, ratio, ...question } of measured)
      rows.set(question.id, { ...question, on: { ...rows.get(question.id)?.on, [node]: { own, beside, ratio } } });
  return [...rows.values()];
}

/** The target, and whether every Node met it: "≥ 3 met". */
export function verdictOf({ target, bound, on }: TableRow): string {
  const met = Object.values(on).every(({ ratio: { median } }) => (bound === "at most" ? median <= target : median >= target));
  return `${bound === "at most" ? "≤" : "≥"} ${target} ${met ? "met" : "missed"}`;
}

function figures({ own, beside, ratio }: Compared): string {
  const values = beside === undefined ? rounded(own) : `${rounded(own)} to ${rounded(beside)}`;
  return `${rounded(ratio.median)} × (${rounded(ratio.low)} to ${rounded(ratio.high)}): ${values}`;
}

/** A Markdown table with aligned columns, as the formatter of the repository wants it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width) => "-".repeat(width));
  const lines = [head, rule, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | "));
  return `${lines.map((line) => `| ${line} |`).join("\n")}\n`;
}

/** Rows as a Markdown table, with a column for each Node. */
export function tableText(rows: readonly TableRow[]): string {
  const nodes = [...new Set(rows.flatMap(({ on }) => Object.keys(on)))];
  const head = ["case", "beside", ...nodes.map((node) => `Node ${node}`), "reach"];
  const cells = rows.map((row) => {
    const shown = nodes.map((node) => {
      const compared = row.on[node];
      return compared === undefined ? "" : figures(compared);
    });
    return [row.what, row.against, ...shown, verdictOf(row)];
  });
  return markdownTable(head, cells);
}

/** A row as one item of a Markdown list. */
export function listItem({ what, against, bound, on }: TableRow): string {
  const ratios = Object.entries(on).map(([node, { ratio }]) => `${rounded(ratio.median)} × on Node ${node}`);
  return `- ${what}: ${ratios.join(", ")} of ${against}; ${bound === "at most" ? "less" : "more"} is better`;
}
