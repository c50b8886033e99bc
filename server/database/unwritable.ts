/** Error codes of a full or broken disk. */
const UNWRITABLE_CODES = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO"];

/** True for an error of writing to a file that no other way of writing avoids. */
export function isUnwritable(error: unknown): error is Error {
  return error instanceof Error && UNWRITABLE_CODES.includes((error as NodeJS.ErrnoException).code ?? "");
}
