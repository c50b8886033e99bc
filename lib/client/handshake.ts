import type { STREAM_PROTOCOL } from "#lib/contract/stream";
import type { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import type { ClientClock } from "./clock";
import { asSpotwireError, SpotwireError } from "./errors";
import type { Dialer, Handshake } from "./socket";

// The contract's own values, checked by its types: importing them would bring its schemas along.
const PROTOCOL: typeof STREAM_PROTOCOL = "market.v1";
const TICKET_PREFIX: typeof TICKET_PROTOCOL_PREFIX = "ticket.";
/** Time the user's own way to a ticket may take. */
const TICKET_TIMEOUT_MS = 30_000;
/** What a subprotocol may be made of (RFC 9110, token). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Where a stream gets its right to connect. */
export interface Credentials {
  readonly key: string | undefined;
  /** The user's way to a ticket; goes before the key. */
  readonly ticket: (() => Promise<string>) | undefined;
  /** A ticket for the key, over REST. */
  fetchTicket(signal: AbortSignal): Promise<string>;
}

async function askForTicket(ticket: () => Promise<string>, clock: ClientClock): Promise<string> {
  const settled = new AbortController();
  const late = clock.wait(TICKET_TIMEOUT_MS, settled.signal).then(() => {
    throw new SpotwireError("timeout", `No ticket came within ${TICKET_TIMEOUT_MS / 1000} s.`);
  });
  // The race has one loser, and it is not to be heard of.
  late.catch(() => {});
  try {
    return await Promise.race([ticket(), late]);
  } catch (thrown) {
    throw asSpotwireError(thrown, "No ticket could be fetched");
  } finally {
    settled.abort();
  }
}

/**
 * What one handshake carries. The key goes in the Authorization header where the runtime can send one; elsewhere, and
 * wherever the user has his own way to tickets, a fresh ticket goes as a subprotocol. A ticket opens one connection.
 * @throws SpotwireError of the ticket's request, or invalid_argument for a ticket that is none
 */
export async function prepareHandshake(
  { key, ticket, fetchTicket }: Credentials,
  { sendsHeaders }: Dialer,
  clock: ClientClock,
  signal: AbortSignal,
): Promise<Handshake> {
  if (ticket === undefined && sendsHeaders) return { protocols: [PROTOCOL], headers: { authorization: `Bearer ${key}` } };
  const text = ticket === undefined ? await fetchTicket(signal) : await askForTicket(ticket, clock);
  if (typeof text !== "string" || !TOKEN.test(text))
    throw new SpotwireError("invalid_argument", "The ticket function must give the text of a ticket.");
  return { protocols: [PROTOCOL, TICKET_PREFIX + text], headers: {} };
}
