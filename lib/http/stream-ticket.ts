import { originAllowed } from "#lib/access/principal";
import type { StreamTicket } from "#lib/contract/stream-ticket";
import { Fault } from "#lib/fault";
import type { DataReply } from "#lib/market/question";
import { runtime } from "#lib/runtime";
import { foreignOrigin } from "./own-origin";
import type { GuardedCall } from "./route";

/**
 * A ticket for one stream connection, bound to the key and to an origin: the request's own, or the one a server names for
 * its page.
 * @throws Fault origin_not_allowed when the key does not allow the origin named, or the request comes from another one
 */
export function createStreamTicket({
  query,
  principal,
  origin,
  host,
  access,
}: GuardedCall<{ origin?: string | undefined }>): DataReply {
  const named = query.origin === undefined ? origin : foreignOrigin(query.origin, host, runtime().env.PUBLIC_URL);
  if (!originAllowed(principal, named) || (origin !== null && named !== origin))
    throw new Fault("origin_not_allowed", { detail: "This key does not allow a ticket for that origin.", parameter: "origin" });
  const { ticket, expiresAtMs } = access.mintTicket(principal, named);
  const data: StreamTicket = { ticket, expires_at: new Date(expiresAtMs).toISOString() };
  return { data };
}
