import type { STREAM_PROTOCOLS } from "#lib/contract/stream";
import type { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import type { ClientClock } from "./clock";
import type { MessagePack } from "./connection";
import { asSpotwireError, SpotwireError } from "./errors";
import type { Dialer, Handshake } from "./socket";

// The contract's values, checked by its types; importing them would bundle its schemas.
const PROTOCOLS: typeof STREAM_PROTOCOLS = { json: "market.v1", msgpack: "market.v1.msgpack" };
const TICKET_PREFIX: typeof TICKET_PROTOCOL_PREFIX = "ticket.";
/** Timeout of the user's ticket function. */
const TICKET_TIMEOUT_MS = 30_000;
/** Characters of a subprotocol (RFC 9110, token). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The credentials of a stream. */
export interface Credentials {
  readonly key: string | undefined;
  /** The user's ticket function; takes precedence over the key. */
  readonly ticket: (() => Promise<string>) | undefined;
  /** Requests a ticket for the key over REST. */
  fetchTicket(signal: AbortSignal): Promise<string>;
  /** Offers MessagePack, before JSON for a service that does not have it. */
  readonly messagePack?: MessagePack | undefined;
}

async function askForTicket(ticket: () => Promise<string>, clock: ClientClock): Promise<string> {
  const settled = new AbortController();
  const late = clock.wait(TICKET_TIMEOUT_MS, settled.signal).then(() => {
    throw new SpotwireError("timeout", `The ticket function returned no ticket within ${TICKET_TIMEOUT_MS / 1000} s.`);
  });
  // The promise that loses the race must not cause an unhandled rejection.
  late.catch(() => {});
  try {
    return await Promise.race([ticket(), late]);
  } catch (thrown) {
    throw asSpotwireError(thrown, "The ticket could not be fetched");
  } finally {
    settled.abort();
  }
}

/**
 * The credentials of one handshake: the key in the Authorization header if the runtime can send headers, else, or if there is
 * a ticket function, a fresh ticket as a subprotocol. A ticket opens one connection.
 * @throws SpotwireError of the ticket request, or bad_answer for what is no ticket, such as the error page of a backend
 */
export async function prepareHandshake(
  { key, ticket, fetchTicket, messagePack }: Credentials,
  { sendsHeaders, binary = false }: Dialer,
  clock: ClientClock,
  signal: AbortSignal,
): Promise<Handshake> {
  const protocols = messagePack !== undefined && binary ? [PROTOCOLS.msgpack, PROTOCOLS.json] : [PROTOCOLS.json];
  if (ticket === undefined && sendsHeaders) return { protocols, headers: { authorization: `Bearer ${key}` } };
  const text = ticket === undefined ? await fetchTicket(signal) : await askForTicket(ticket, clock);
  if (typeof text !== "string" || !TOKEN.test(text))
    throw new SpotwireError("bad_answer", "The ticket function did not return the text of a ticket. It is called again.");
  return { protocols: [...protocols, TICKET_PREFIX + text], headers: {} };
}
