import type { FileType } from "#lib/contract/files";
import type { Listing } from "#lib/domain/instrument";
import type { FileThread } from "./file-thread";
import type { MadeFile, MadeFiles } from "./made-files";

/** Makes what gives the rows of a Parquet file as CSV, once for each file. Their prices are rounded to the digits of the instrument. */
export function csvFileOf(type: FileType, made: MadeFiles, thread: FileThread) {
  return ({ ticker, digits }: Listing, sha256: string, whole: () => Promise<Uint8Array>): Promise<MadeFile> =>
    made.find(`csv-${digits}-${sha256}`, async () => thread.csv(type, await whole(), { ticker, digits }));
}
