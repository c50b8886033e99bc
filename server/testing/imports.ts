import type { Clock } from "#lib/clock";
import { type BackfillProgress, beginBackfill } from "#server/store/market/backfills";
import type { TestDatabase } from "./database";

/** The progress of an import of one file that has just begun. */
export const BEGUN_IMPORT: BackfillProgress = {
  state: "running",
  files: 1,
  filesDone: 0,
  filesFailed: 0,
  file: "",
  step: "",
  share: 0,
  rows: 0,
  readMs: 0,
  problem: null,
  doubts: [],
};

/** Begins an import into the live venue; returns its number. */
export async function beginTestImport(
  context: { readonly db: TestDatabase; readonly clock: Clock },
  changes: Partial<BackfillProgress> = {},
): Promise<number> {
  return (await beginBackfill(context, "live", { ...BEGUN_IMPORT, ...changes })).number;
}
