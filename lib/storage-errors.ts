/** A segment was changed, cut off or made by something else. */
export class SegmentDamaged extends Error {
  override readonly name = "SegmentDamaged";
}

/** A segment that a row names is not there. */
export class SegmentMissing extends Error {
  override readonly name = "SegmentMissing";
}

/** Segments cannot be stored or read now: where they lie is not reachable, refuses, or is full. The message names it, without secrets. */
export class SegmentStoreAway extends Error {
  override readonly name = "SegmentStoreAway";
}

/**
 * SQLSTATE classes and codes of a server that is unreachable, shutting down or full; Node's codes of a broken connection;
 * Prisma's codes for both (unreachable, timed out, closed, full).
 */
const AWAY_CODES =
  /^(08...|57P0[123]|53300|P1001|P1002|P1008|P1017|P2024|P2037|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;
const AWAY_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable/;

// By their names, because Next bundles copies of the classes.

/** True for an error that says the directory or bucket of history cannot be reached. */
export const isHistoryAway = (error: unknown): boolean => (error as Error | undefined)?.name === "SegmentStoreAway";

/** True for an error that says the database, or where its stored klines lie, is currently unreachable; false for one of the query itself. */
export function isDatabaseAway(error: unknown): boolean {
  if (isHistoryAway(error)) return true;
  if (error instanceof AggregateError) return error.errors.every(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  return AWAY_CODES.test((error as { code?: string }).code ?? "") || AWAY_MESSAGES.test(error.message);
}

/** Whether a file of stored klines is damaged or missing. The error names it; other files can still be read. */
export function isHistoryDamaged(error: unknown): boolean {
  return ["SegmentDamaged", "SegmentMissing"].includes((error as Error | undefined)?.name ?? "");
}
