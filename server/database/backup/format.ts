import { z } from "zod";

/*
 * A backup is gzipped text, sealed with the secret of the installation or encrypted with a passphrase, with these lines:
 *   the header
 *   for each table, parents before children: its part line, its rows as PostgreSQL's COPY writes them, `\.`, its sum
 *   the end
 * Header, part, sum and end are JSON. `\.` cannot be a row: COPY doubles every backslash of a value.
 */

/** Format version; increases when older versions can no longer read the file. */
export const BACKUP_FORMAT = 1;
/** The line after the rows of a table. */
export const ROWS_END = "\\.\n";
/** Prisma's record of migrations; stored in the header, not copied as a table. */
export const MIGRATIONS_TABLE = "_prisma_migrations";

/** First line of a backup. */
export const Header = z.object({
  spotwireBackup: z.number().int(),
  /** Time of the snapshot, by the clock of the machine that made it. */
  madeAt: z.iso.datetime(),
  /** Names of the migrations applied to the data. */
  migrations: z.array(z.string()).min(1),
  /** Last value of each sequence; unused sequences are omitted. */
  sequences: z.record(z.string(), z.string().regex(/^-?\d{1,19}$/)),
  /** The secret of the installation; only in a file that is encrypted. */
  secret: z.string().min(1).optional(),
});
export type Header = z.infer<typeof Header>;

/** Line before a table's rows: the columns, in the order of the rows. */
export const Part = z.object({ table: z.string().min(1), columns: z.array(z.string().min(1)).min(1) });
export type Part = z.infer<typeof Part>;

/** Line after a table's rows; the hash, in hex, covers the rows as written in the file. */
export const Sum = z.object({ rows: z.number().int().min(0), sha256: z.string() });
export type Sum = z.infer<typeof Sum>;

/** Last line. */
export const End = z.object({ tables: z.number().int().min(0), rows: z.number().int().min(0) });

/** Why a backup or a restore failed. The message is for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** The error for a truncated or modified file; thrown before a restore commits. */
export const damaged = (why: string) => new BackupError(`The backup is damaged: ${why}. Nothing was changed.`);

/** What a backup wrote or a restore read. */
export interface BackupSummary {
  readonly header: Header;
  readonly tables: number;
  readonly rows: number;
}

/** A value as a line of JSON. */
export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
