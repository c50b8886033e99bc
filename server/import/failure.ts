import { EXIT_FAILED, EXIT_USAGE, UsageError } from "#server/cli/usage-error";

/** A file that cannot be imported. The message says why. */
export class ImportFailure extends Error {
  override readonly name = "ImportFailure";
}

/** True for an error about one file: it cannot be imported, or needs another option. Other files are not affected. */
export function isFileError(error: unknown): error is ImportFailure | UsageError {
  return error instanceof ImportFailure || error instanceof UsageError;
}

/** The exit code for an error about one file. */
export function exitCodeOf(error: ImportFailure | UsageError): number {
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
