/** An export that cannot be completed. The message says why, and what was written. */
export class ExportFailure extends Error {
  override readonly name = "ExportFailure";
}
