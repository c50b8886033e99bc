import { randomUUID } from "node:crypto";
import { REQUEST_ID_MAX_CHARACTERS } from "#lib/contract/limits";

const WELL_FORMED = new RegExp(`^[A-Za-z0-9._-]{1,${REQUEST_ID_MAX_CHARACTERS}}$`);

/** The id of a request: the caller's when it is well formed (letters, digits, dot, dash, underscore), else a new one. */
export function requestIdOf(incoming: string | null): string {
  if (incoming !== null && WELL_FORMED.test(incoming)) return incoming;
  // Unlike randomBytes it draws on randomness that Node keeps ready.
  return `req_${randomUUID()}`;
}
