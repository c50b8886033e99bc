import { z } from "zod";
import { HOUR_S } from "#lib/units";
import { Ticker } from "./primitives";

/** Files of one import in the browser, and their bytes together; what is larger is imported by the command. */
export const UPLOAD_FILES_MAX_COUNT = 100;
export const UPLOAD_MAX_BYTES = 2_147_483_648;
/** A file comes in parts of at most this size. */
export const UPLOAD_PART_MAX_BYTES = 1_048_576;
/** Files that nobody does anything with are deleted. */
export const UPLOAD_IDLE_MAX_S = HOUR_S;
/** Lines of the report that are kept; those after them are counted. */
export const UPLOAD_LINES_MAX_COUNT = 2_000;

/** The name of an uploaded file: the importer reads the instrument from it. */
export const UploadName = z
  .string()
  .regex(/^[\p{L}\p{N}_][\p{L}\p{N}_ .,()+@-]{0,119}$/u, "Use at most 120 letters, digits, spaces and _ . , ( ) + @ -");

/** Where a part of a file belongs. */
export const UploadPartQuery = z.strictObject({ offset: z.coerce.number().int().min(0).max(UPLOAD_MAX_BYTES) });

/** How uploaded files are imported. */
export const UploadRunForm = z.strictObject({
  /** True stores nothing, and reports what would happen. */
  dry_run: z.boolean(),
  /** The instrument of all files; null to read it from their names. */
  ticker: Ticker.nullable(),
  /** True to import doubtful files, too. */
  accept_doubts: z.boolean(),
});
export type UploadRunForm = z.infer<typeof UploadRunForm>;

/** Files that an operator imports in the browser. */
export interface UploadReport {
  /** none: no files; open: files may be added; trial and import run; tried and imported have ended. */
  readonly state: "none" | "open" | "trial" | "tried" | "import" | "imported";
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** What the importer says. */
  readonly lines: readonly string[];
  /** Lines that are not kept. */
  readonly more_lines: number;
  /** The completed share of the current step, 0 to 1; null where none is known. */
  readonly share: number | null;
  /** doubtful: some files are imported only when their doubts are accepted; null while it runs. */
  readonly outcome: "well" | "doubtful" | "failed" | null;
  /** The number of the import, once it stored something. */
  readonly number: number | null;
}
