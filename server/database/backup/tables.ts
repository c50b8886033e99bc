import pg from "pg";
import { BackupError, MIGRATIONS_TABLE, type Part } from "./format";

const TABLES = `SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> $1
  GROUP BY c.relname ORDER BY c.relname`;

const REFERENCES = `SELECT child.relname AS child, parent.relname AS parent
  FROM pg_constraint f JOIN pg_class child ON child.oid = f.conrelid JOIN pg_class parent ON parent.oid = f.confrelid
  WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace AND f.conrelid <> f.confrelid`;

const SEQUENCES = `SELECT sequencename AS name, last_value::text AS value FROM pg_sequences
  WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY sequencename`;

/** Tables sorted parents first, so that every row follows the rows it references. */
function inOrder(parts: readonly Part[], references: readonly { child: string; parent: string }[]): Part[] {
  const left = [...parts];
  const ordered: Part[] = [];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ table }) => table));
    const next = left.findIndex(({ table }) => !references.some(({ child, parent }) => child === table && waiting.has(parent)));
    if (next < 0) throw new BackupError(`These tables reference each other in a cycle: ${[...waiting].join(", ")}.`);
    ordered.push(...left.splice(next, 1));
  }
  return ordered;
}

/**
 * All tables with rows, in an order that foreign keys allow.
 * @throws BackupError when tables reference each other in a cycle
 */
export async function readTables(client: pg.Client): Promise<Part[]> {
  const { rows } = await client.query<Part>(TABLES, [MIGRATIONS_TABLE]);
  const { rows: references } = await client.query<{ child: string; parent: string }>(REFERENCES);
  return inOrder(rows, references);
}

/** Last value of every used sequence. */
export async function readSequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(SEQUENCES);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Whether the database contains Spotwire's tables, only other tables, or none. */
export async function whoseTables(client: pg.Client): Promise<"ours" | "foreign" | "none"> {
  const { rows } = await client.query<{ relname: string }>(
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')",
  );
  if (rows.length === 0) return "none";
  return rows.some(({ relname }) => relname === MIGRATIONS_TABLE) ? "ours" : "foreign";
}

/** Tables that a start fills; operators' edits of them are in the audit log. */
const SEEDED = ["plan", "calendar", "listing", "account", "history_place"];

/** True for a database that was started and nothing else: it has the rows of every installation, and no others. */
export async function isAsStarted(client: pg.Client): Promise<boolean> {
  const parts = await readTables(client);
  const isFilled = parts
    .filter(({ table }) => !SEEDED.includes(table))
    .map(({ table }) => `EXISTS (SELECT FROM ${pg.escapeIdentifier(table)})`);
  const { rows } = await client.query<{ touched: boolean }>(
    `SELECT ${["(SELECT count(*) > 1 FROM account)", ...isFilled].join(" OR ")} AS touched`,
  );
  return rows[0]?.touched === false;
}
