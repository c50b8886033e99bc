import { expect, test } from "vitest";
import { importTool } from "#lib/testing/tools";
import { migrationNames, readMigrations } from "./migrate";

/**
 * Two releases use one database during a rolling deploy, so a migration may only add what the release before it can ignore.
 * Anything else needs a line `-- previous release: …` in its file, which says why that release still works.
 */
const NOTE = /^-- previous release: \S.{20,}$/m;

type Node = Readonly<Record<string, unknown>>;
interface Parser {
  parse(sql: string): Promise<{ readonly stmts?: readonly { readonly stmt?: Node }[] }>;
}
const { parse } = await importTool<Parser>("libpg-query");

interface Command {
  readonly subtype: string;
  readonly name?: string;
  readonly def?: { readonly ColumnDef?: Column; readonly Constraint?: { readonly contype: string } };
}
interface Column {
  readonly colname: string;
  readonly constraints?: readonly { readonly Constraint: { readonly contype: string } }[];
}

/** Changes of a table that existed before, which the release before can ignore. */
const HARMLESS = new Set([
  "AT_ColumnDefault",
  "AT_SetStatistics",
  "AT_SetStorage",
  "AT_EnableAlwaysTrig",
  "AT_ValidateConstraint",
]);
/** Statements that only add, or change no table. */
const ADDING = new Set(["CreateStmt", "CreateFunctionStmt", "CreateTrigStmt", "CommentStmt", "InsertStmt", "UpdateStmt"]);

function problemOf({ subtype, name, def }: Command): string[] {
  if (HARMLESS.has(subtype)) return [];
  if (subtype !== "AT_AddColumn") return [`${subtype}${name === undefined ? "" : ` ${name}`}`];
  const { colname = "", constraints = [] } = def?.ColumnDef ?? {};
  const kinds = constraints.map(({ Constraint }) => Constraint.contype);
  const optional = !kinds.includes("CONSTR_NOTNULL") || kinds.includes("CONSTR_DEFAULT");
  const serial = JSON.stringify(def).includes('"serial"');
  return optional || serial ? [] : [`AT_AddColumn ${colname} NOT NULL without a default`];
}

/** What a script changes that the release before it may depend on. */
async function findDestructive(sql: string): Promise<string[]> {
  const { stmts = [] } = await parse(sql);
  const made = new Set<string>();
  const nameOf = (relation: unknown) => (relation as { relname?: string } | undefined)?.relname ?? "";
  return stmts.flatMap(({ stmt = {} }) => {
    const [[kind, node]] = Object.entries(stmt) as [[string, Node]];
    const table = nameOf(node.relation);
    if (kind === "CreateStmt") made.add(table);
    if (ADDING.has(kind) || made.has(table)) return [];
    if (kind === "IndexStmt") return node.unique === true ? [`unique index on ${table}`] : [];
    if (kind !== "AlterTableStmt") return [`${kind} ${table}`.trim()];
    const commands = (node.cmds as readonly { readonly AlterTableCmd: Command }[]).map(({ AlterTableCmd }) => AlterTableCmd);
    return commands.flatMap(problemOf).map((problem) => `${table}: ${problem}`);
  });
}

test("every migration leaves the tables such that the release before it still works, or says why it does", async () => {
  const problems: Record<string, string[]> = {};
  for (const { name, sql } of await readMigrations(await migrationNames())) {
    const found = await findDestructive(sql);
    if (found.length > 0 && !NOTE.test(sql)) problems[name] = found;
  }
  expect(problems).toEqual({});
});

test.each([
  ["ALTER TABLE plan DROP COLUMN rest_burst", "plan: AT_DropColumn rest_burst"],
  ["ALTER TABLE plan RENAME COLUMN rest_burst TO burst", "RenameStmt plan"],
  ["ALTER TABLE plan RENAME TO tariff", "RenameStmt plan"],
  ["ALTER TABLE plan ALTER COLUMN rest_burst TYPE bigint", "plan: AT_AlterColumnType rest_burst"],
  ["ALTER TABLE plan ALTER COLUMN rest_burst SET NOT NULL", "plan: AT_SetNotNull rest_burst"],
  ["ALTER TABLE plan ALTER COLUMN rest_burst DROP NOT NULL", "plan: AT_DropNotNull rest_burst"],
  ["ALTER TABLE plan ADD COLUMN colour text NOT NULL", "plan: AT_AddColumn colour NOT NULL without a default"],
  ["ALTER TABLE plan ADD CONSTRAINT small CHECK (rest_burst < 9)", "plan: AT_AddConstraint"],
  ["CREATE UNIQUE INDEX one ON plan (rest_burst)", "unique index on plan"],
  ["DROP TABLE plan", "DropStmt"],
  ["TRUNCATE plan", "TruncateStmt"],
  ["DELETE FROM plan", "DeleteStmt plan"],
  ["DO $$ BEGIN DROP TABLE plan; END $$", "DoStmt"],
])("the rule finds: %s", async (sql, problem) => expect(await findDestructive(sql)).toEqual([problem]));

test("the rule accepts what only adds", async () => {
  const sql = `CREATE TABLE tariff (id int NOT NULL); CREATE UNIQUE INDEX i ON tariff (id); ALTER TABLE tariff ADD PRIMARY KEY (id);
    ALTER TABLE plan ADD COLUMN colour text, ADD COLUMN size int NOT NULL DEFAULT 1; CREATE INDEX j ON plan (rest_burst);`;
  expect(await findDestructive(sql)).toEqual([]);
});
