import type { IncomingMessage } from "node:http";
import { isWellFormedKey } from "#lib/contract/key-text";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { Fault } from "#lib/fault";
import { bearerOf } from "#lib/http/guards";
import type { Credentials } from "./admission";
import { handshakeId } from "./refuse-upgrade";

/** Names under which clients of other services put a key into the address. */
const KEY_NAMES = new Set(["key", "api_key", "apikey", "api-key", "token", "access_token", "authorization", "auth", "bearer"]);

/**
 * Refuses an address that holds a key: addresses stand in logs of proxies and browsers.
 * @throws Fault unauthorized
 */
export function requireNoKeyInQuery(query: URLSearchParams): void {
  for (const [name, value] of query)
    if (KEY_NAMES.has(name.toLowerCase()) || isWellFormedKey(value))
      throw new Fault("unauthorized", {
        detail: "A key in the address is refused, because addresses are logged. Send Authorization: Bearer, or a ticket.",
        parameter: name.slice(0, 40),
      });
}

/** The query of a request target. */
function queryOf(target: string): URLSearchParams {
  const at = target.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : target.slice(at + 1));
}

/** The ticket among the offered subprotocols, null without one. */
function ticketOf(protocols: string | undefined): string | null {
  for (const offered of (protocols ?? "").split(",")) {
    const name = offered.trim();
    if (name.startsWith(TICKET_PROTOCOL_PREFIX)) return name.slice(TICKET_PROTOCOL_PREFIX.length);
  }
  return null;
}

/**
 * What a raw WebSocket handshake shows.
 * @throws Fault unauthorized for a key in the address
 */
export function credentialsOf(request: IncomingMessage, address: string): Credentials {
  requireNoKeyInQuery(queryOf(request.url ?? ""));
  const { headers } = request;
  return {
    key: bearerOf(headers.authorization ?? null),
    ticket: headers.authorization === undefined ? ticketOf(headers["sec-websocket-protocol"]) : null,
    origin: headers.origin ?? null,
    address,
    id: handshakeId(request),
  };
}
