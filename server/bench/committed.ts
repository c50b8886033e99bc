import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { type Row, tableText } from "./table";

const TABLE_FILE = "server/bench/table.json";
const README_FILE = "README.md";
const BEGIN = "<!-- bench: npm run bench -- --write -->";
const END = "<!-- /bench -->";
/** A ratio may be this much worse than the committed one before the short run fails: no machine differs as much from another. */
const WORSE_MAX_FACTOR = 2;

const RowSchema = z.strictObject({
  id: z.string().optional(),
  what: z.string(),
  value: z.string(),
  anchor: z.string().optional(),
  ratio: z
    .strictObject({
      value: z.number(),
      spread: z.strictObject({ low: z.number(), high: z.number() }).optional(),
      target: z.number(),
      against: z.string(),
      bound: z.enum(["at least", "at most"]).optional(),
    })
    .optional(),
});
const TableSchema = z.strictObject({ date: z.iso.date(), machine: z.string(), rows: z.array(RowSchema).min(1) });

/** A whole run, as it is committed. */
export interface CommittedTable {
  readonly date: string;
  readonly machine: string;
  readonly rows: readonly Row[];
}

/** The committed table. @throws Error that says how to write it, when it is missing or damaged */
export function readTable(file = TABLE_FILE): CommittedTable {
  const remedy = "Run npm run bench -- --write, or restore the file.";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new Error(`${file} is missing. ${remedy}`);
  }
  try {
    return TableSchema.parse(JSON.parse(text)) as CommittedTable;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${file} is damaged: ${reason}\n${remedy}`);
  }
}

/** The text of README with the table in its place. @throws Error when README has no place for it */
export function withTable(readme: string, { date, machine, rows }: CommittedTable): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${README_FILE} has no "${BEGIN}" before "${END}".`);
  const table = `${BEGIN}\n\nMeasured on ${date}: ${machine}.\n\n${tableText(rows)}\n`;
  return readme.slice(0, from) + table + readme.slice(to);
}

/** Writes a run as the committed table, and to README. */
export function writeTable(table: CommittedTable): void {
  writeFileSync(TABLE_FILE, `${JSON.stringify(table, null, 2)}\n`);
  writeFileSync(README_FILE, withTable(readFileSync(README_FILE, "utf8"), table));
}

/**
 * Compares rows of a short run with the committed ones.
 * @returns one line for each ratio that is less than half as good, or that is not committed
 */
export function worseThan(committed: CommittedTable, rows: readonly Row[]): string[] {
  return rows.flatMap(({ id, what, ratio }) => {
    if (ratio === undefined) return [];
    const before = committed.rows.find((row) => row.id !== undefined && row.id === id)?.ratio;
    if (before === undefined) return [`${what}: the committed table has no row "${id}"`];
    const factor = ratio.bound === "at most" ? ratio.value / before.value : before.value / ratio.value;
    if (factor <= WORSE_MAX_FACTOR) return [];
    return [`${what}: ${ratio.value.toFixed(2)} × ${ratio.against}, ${before.value.toFixed(2)} on ${committed.date}`];
  });
}
