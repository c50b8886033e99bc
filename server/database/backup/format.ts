import { z } from "zod";

/*
 * A backup is gzipped text, a line each:
 *   the header
 *   for each table, parents before children: its part line, its rows as PostgreSQL's COPY writes them, `\.`, its sum
 *   the end
 * Header, part, sum and end are JSON. `\.` cannot be a row: COPY doubles every backslash of a value.
 */

/** Changes when a file can no longer be read by what read the one before. */
export const BACKUP_FORMAT = 1;
/** Ends the rows of a table. */
export const ROWS_END = "\\.\n";
/** Prisma's record of migrations: said in the header, not copied. */
export const MIGRATIONS_TABLE = "_prisma_migrations";

/** First line of a backup. */
export const Header = z.object({
  spotwireBackup: z.number().int(),
  /** Instant of the snapshot, by the clock of the machine that made it. */
  madeAt: z.iso.datetime(),
  /** Names of the migrations the data is shaped by. */
  migrations: z.array(z.string()).min(1),
  /** Last value each sequence gave; those that gave none are left out. */
  sequences: z.record(z.string(), z.string().regex(/^-?\d{1,19}$/)),
});
export type Header = z.infer<typeof Header>;

/** Line before a table's rows: the columns in the order the rows have them. */
export const Part = z.object({ table: z.string().min(1), columns: z.array(z.string().min(1)).min(1) });
export type Part = z.infer<typeof Part>;

/** Line after a table's rows; the hash is of the rows as they stand in the file, in hex. */
export const Sum = z.object({ rows: z.number().int().min(0), sha256: z.string() });
export type Sum = z.infer<typeof Sum>;

/** Last line. */
export const End = z.object({ tables: z.number().int().min(0), rows: z.number().int().min(0) });

/** What a backup or a restore cannot do, in words for who runs it. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** The error for a file that was cut or changed; thrown before a restore commits. */
export const damaged = (why: string) => new BackupError(`The backup is damaged: ${why}. Nothing was changed.`);

/** What was written or read. */
export interface BackupSummary {
  readonly header: Header;
  readonly tables: number;
  readonly rows: number;
}

/** A line of JSON. */
export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
