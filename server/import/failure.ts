const BRAND = Symbol.for("spotwire.import-failure");

/** What the command ends with. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** A reason to stop that is told to the operator as it stands, without a stack. */
export class ImportFailure extends Error {
  readonly [BRAND] = true;
  override readonly name = "ImportFailure";
  readonly exitCode: typeof EXIT_FAILED | typeof EXIT_USAGE;

  constructor(message: string, exitCode: typeof EXIT_FAILED | typeof EXIT_USAGE = EXIT_FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A wrong command line: exit code 2. */
export function usageFailure(message: string): ImportFailure {
  return new ImportFailure(message, EXIT_USAGE);
}

export function isImportFailure(error: unknown): error is ImportFailure {
  return typeof error === "object" && error !== null && BRAND in error;
}
