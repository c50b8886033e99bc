/** Exit codes of every command. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** A mistake in the command line. The message is one line that names the argument and its valid values. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
