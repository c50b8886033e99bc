import { type Method, refusedMethods } from "#lib/http/methods";
import { portal } from "./runtime";

/** Handlers for all methods that a route file of the portal does not serve; see refusedMethods. */
export function otherMethods<const Own extends Partial<Record<Method, unknown>>>(own: Own) {
  return refusedMethods(own, () => portal().env.PUBLIC_URL ?? "");
}
