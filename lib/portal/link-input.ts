import type { NewLink } from "#lib/access/links/links";
import type { Operation } from "#lib/contract/operation";
import { operations } from "#lib/contract/operations";
import type { LinkForm } from "#lib/contract/portal-links";
import { Fault } from "#lib/fault";
import { parseQuery } from "#lib/http/query";

/**
 * A link as a form asks for it, with its parameters checked as those of a call. The format is always part of it, so that no
 * program's `Accept` header changes it.
 * @throws Fault of the first parameter that the operation refuses or does not have
 */
export function linkOfForm({ name, key_id, operation: id, parameters, expires_at }: LinkForm): NewLink {
  const operation = operations[id] as unknown as Operation;
  const format = parameters.format || (operation.file === undefined ? "json" : "parquet");
  const given = Object.entries({ ...parameters, format }).filter(([, value]) => value.trim() !== "");
  const unknown = given.map(([parameter]) => parameter).find((parameter) => !Object.hasOwn(operation.query, parameter));
  if (unknown !== undefined)
    throw new Fault("invalid_parameter", { parameter: unknown, detail: `${operation.summary} has no parameter of this name.` });
  const query = new URLSearchParams(given).toString();
  parseQuery(operation, query);
  return { name, keyId: key_id, operation: id, query, expiresAt: new Date(expires_at) };
}
