import { originAllowed, requireStreams } from "#lib/access/principal";
import type { QueryOf } from "#lib/contract/operation";
import type { StreamTicket } from "#lib/contract/stream-ticket";
import { Fault } from "#lib/fault";
import { foreignOrigin } from "#lib/http/own-origin";
import { type GuardedCall, route } from "#lib/http/route";
import type { DataReply } from "#lib/market/question";
import { runtime } from "#lib/runtime";
import { createStreamTicket } from "./declaration";

/**
 * A ticket for one stream connection, bound to the key and to an origin: the request's own, or the one a server names for
 * its page. A browser hides why a handshake was refused, so that no connection is left is said here.
 * @throws Fault origin_not_allowed when the key does not allow the origin named, or the request comes from another one;
 * not_in_plan without streams; too_many_connections when the key or its account could not open a connection now
 */
async function mintTicket({
  query,
  principal,
  address,
  origin,
  host,
  access,
}: GuardedCall<QueryOf<typeof createStreamTicket.query>>): Promise<DataReply> {
  const { env, requireConnectionRoom } = runtime();
  requireStreams(principal);
  const named = query.origin === undefined ? origin : foreignOrigin(query.origin, host, env.PUBLIC_URL);
  if (!originAllowed(principal, named) || (origin !== null && named !== origin))
    throw new Fault("origin_not_allowed", { detail: "This key does not allow a ticket for that origin.", parameter: "origin" });
  // The places of the demo key belong to an address, and a server that asks for its page has another one than the page.
  if (!principal.perAddress || query.origin === undefined) await requireConnectionRoom(principal, address);
  const { ticket, expiresAtMs } = access.mintTicket(principal, named);
  const data: StreamTicket = { ticket, expires_at: new Date(expiresAtMs).toISOString() };
  return { data };
}

export const handler = route(createStreamTicket, mintTicket);
