import type { FailureData } from "#lib/contract/envelope";
import { ERRORS, type ErrorId } from "#lib/contract/errors";

/**
 * The server and Next's bundle hold separate copies of this module, so `instanceof` is false across that line:
 * a fault is recognised by this brand alone.
 */
const BRAND = Symbol.for("spotwire.fault");

/** What a fault may tell the caller beside its identifier. */
export type FaultData = Partial<Omit<FailureData, "request_id" | "docs_url">>;

/** A declared failure: becomes the envelope of its identifier wherever it is caught. */
export class Fault extends Error {
  readonly [BRAND] = true;
  readonly id: ErrorId;
  readonly data: FaultData;

  constructor(id: ErrorId, data: FaultData = {}) {
    super(data.detail ?? ERRORS[id].title);
    this.name = "Fault";
    this.id = id;
    this.data = data;
  }
}

/** True for a fault made by any copy of this module. */
export function isFault(error: unknown): error is Fault {
  return typeof error === "object" && error !== null && BRAND in error;
}
