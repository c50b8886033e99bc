import { EXIT_FAILED, EXIT_UNSURE, EXIT_USAGE, UsageError } from "#server/cli/usage-error";

/** A file that cannot be imported. The message says why. */
export class ImportFailure extends Error {
  override readonly name: string = "ImportFailure";
}

/** A file that can be read in several ways, and does not show which is right. The message names the option that decides. */
export class Unsure extends ImportFailure {
  override readonly name = "Unsure";
}

/**
 * A file is another than the one that was judged, or whose beginning is stored: what is stored of it belongs to no file. It ends the whole
 * import, of which nothing may show. The message says which file.
 */
export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/** True for an error about one file: it cannot be imported, or needs another option. Other files are not affected. */
export function isFileError(error: unknown): error is ImportFailure | UsageError {
  return error instanceof ImportFailure || error instanceof UsageError;
}

/** The exit code for an error about one file. */
export function exitCodeOf(error: ImportFailure | UsageError): number {
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof Unsure ? EXIT_UNSURE : EXIT_FAILED;
}

/** What a promise comes to, or its error where that is about one file. @throws any other error */
export async function outcomeOf<T>(work: Promise<T>): Promise<T | ImportFailure | UsageError> {
  try {
    return await work;
  } catch (error) {
    if (isFileError(error)) return error;
    throw error;
  }
}
