/** Exit codes of every command. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
/** The input can be understood in several ways and an option decides, or data are doubtful. */
export const EXIT_UNSURE = 3;

/** A mistake in the command line. The message is one line that names the argument and its valid values. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
