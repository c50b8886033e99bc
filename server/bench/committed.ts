import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { listItem, type TableRow, tableText } from "./table";

const TABLE_FILE = "server/bench/table.json";
/** What stands before and after a run in a document, as a comment of its language. */
const [BEGIN, END] = ["bench: npm run bench -- --write", "/bench"];
/** A ratio that is worse by more than this is named: no quiet machine differs as much from another. */
const WORSE_MAX_FACTOR = 2;

const SpreadSchema = z.strictObject({ median: z.number(), low: z.number(), high: z.number() });
const ComparedSchema = z.strictObject({ own: z.number(), beside: z.number(), ratio: SpreadSchema });
const RowSchema = z.strictObject({
  id: z.string(),
  what: z.string(),
  against: z.string(),
  target: z.number(),
  bound: z.enum(["at least", "at most"]),
  on: z.record(z.string(), ComparedSchema),
});
const TableSchema = z.strictObject({ date: z.iso.date(), machine: z.string(), rows: z.array(RowSchema).min(1) });

/** A whole run, as it is committed. */
export interface CommittedTable {
  readonly date: string;
  readonly machine: string;
  readonly rows: readonly TableRow[];
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
    return TableSchema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${file} is damaged: ${reason}\n${remedy}`);
  }
}

/** A document that shows the committed table, between two comments. */
interface Place {
  readonly file: string;
  comment(text: string): string;
  show(rows: readonly TableRow[]): string;
}

/** The rows that a reader compares with other services, of those in the whole table. */
const README_ROWS = ["quotes-equal", "status-equal", "fanout-ws-25", "fanout-socketio-25", "cold-rows"];

/** The items of README. @throws Error that names a row that the table lacks */
function readmeItems(rows: readonly TableRow[]): string {
  const items = README_ROWS.map((id) => {
    const row = rows.find((one) => one.id === id);
    if (row === undefined) throw new Error(`The table has no row "${id}", which README.md shows.`);
    return listItem(row);
  });
  return `${items.join("\n")}\n`;
}

/** The documents that show the table. */
export const PLACES: readonly Place[] = [
  { file: "lib/docs/guides/performance.mdx", comment: (text) => `{/* ${text} */}`, show: tableText },
  { file: "README.md", comment: (text) => `<!-- ${text} -->`, show: readmeItems },
];

/** The text of a document with the table in its place. @throws Error when it has no place for it */
export function withTable(text: string, { date, machine, rows }: CommittedTable, { file, comment, show }: Place): string {
  const [begin, end] = [comment(BEGIN), comment(END)];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${file} has no "${begin}" before "${end}".`);
  const shown = `${begin}\n\nMeasured on ${date}: ${machine}.\n\n${show(rows)}\n`;
  return text.slice(0, from) + shown + text.slice(to);
}

/** Four digits say all that a run knows. */
const short = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);

/** Writes a run as the committed table, and to the documents that show it. */
export function writeTable(run: CommittedTable): void {
  const json = JSON.stringify(run, short, 2);
  const table = TableSchema.parse(JSON.parse(json));
  const texts = PLACES.map((place) => [place.file, withTable(readFileSync(place.file, "utf8"), table, place)] as const);
  writeFileSync(TABLE_FILE, `${json}\n`);
  for (const [file, text] of texts) writeFileSync(file, text);
}

/**
 * Compares rows with those of the committed table.
 * @returns one line for each ratio that is less than half as good, or that is not committed
 */
export function worseThan(committed: CommittedTable, rows: readonly TableRow[]): string[] {
  return rows.flatMap(({ id, what, against, bound, on }) =>
    Object.entries(on).flatMap(([node, { ratio }]) => {
      const before = committed.rows.find((row) => row.id === id)?.on[node]?.ratio.median;
      if (before === undefined) return [`new: ${what}, Node ${node}`];
      const factor = bound === "at most" ? ratio.median / before : before / ratio.median;
      if (factor <= WORSE_MAX_FACTOR) return [];
      return [
        `less than half as good: ${what}, Node ${node}: ${ratio.median.toFixed(2)} × ${against}, ${before.toFixed(2)} on ${committed.date}`,
      ];
    }),
  );
}
