import type { IncomingMessage } from "node:http";
import type { Access } from "#lib/access/access";
import { hasScope, keyKind, limitOwner, ownSlot, type Principal, requireAccess, requireStreams } from "#lib/access/principal";
import type { ErrorId } from "#lib/contract/errors";
import { isWellFormedKey } from "#lib/contract/key-text";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { Fault, isFault } from "#lib/fault";
import { bearerOf } from "#lib/http/guards";
import { foreignOrigin } from "#lib/http/own-origin";
import type { Metrics } from "#lib/metrics";
import { traced, type Work } from "#lib/spans";
import type { Connections } from "./connections";
import { handshakeId } from "./refuse-upgrade";

/** Query parameter names that other services use for keys. */
const KEY_NAMES = new Set(["key", "api_key", "apikey", "api-key", "token", "access_token", "authorization", "auth", "bearer"]);

/**
 * Refuses a URL that contains a key: proxies and browsers log URLs.
 * @throws Fault unauthorized
 */
export function requireNoKeyInQuery(query: URLSearchParams): void {
  for (const [name, value] of query)
    if (KEY_NAMES.has(name.toLowerCase()) || isWellFormedKey(value))
      throw new Fault("unauthorized", {
        detail: "A key in the URL is refused, because URLs are logged. Send Authorization: Bearer, or a ticket.",
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

/** The trace that a handshake belongs to, as its header says; null without one. */
export function traceparentOf({ headers }: IncomingMessage): string | null {
  const { traceparent } = headers;
  return typeof traceparent === "string" ? traceparent : null;
}

/** A handshake in a trace. */
function describe({ traceparent }: Credentials): Work {
  return {
    name: "stream connect",
    kind: "server",
    attributes: {},
    ...(traceparent !== null && { parent: { traceparent, tracestate: "" } }),
  };
}

/**
 * The credentials of a raw WebSocket handshake.
 * @throws Fault unauthorized for a key in the URL
 */
export function credentialsOf(request: IncomingMessage, address: string): Credentials {
  requireNoKeyInQuery(queryOf(request.url ?? ""));
  const { headers } = request;
  return {
    key: bearerOf(headers.authorization ?? null),
    ticket: headers.authorization === undefined ? ticketOf(headers["sec-websocket-protocol"]) : null,
    origin: headers.origin ?? null,
    host: headers.host ?? null,
    address,
    id: handshakeId(request),
    traceparent: traceparentOf(request),
  };
}

/** What a client authenticates with: a key or a ticket. Without either it is refused. */
export interface Credentials {
  readonly key: string | null;
  readonly ticket: string | null;
  /** The Origin header; null without one. */
  readonly origin: string | null;
  /** The Host header. */
  readonly host: string | null;
  readonly address: string;
  /** Id of the request, and then of the connection. */
  readonly id: string;
  /** The header of W3C Trace Context; null without one. */
  readonly traceparent: string | null;
}

/** An admitted connection. It holds slots until it is released. */
export interface Admission {
  readonly id: string;
  readonly principal: Principal;
  /** Null without one, and for the service's own. */
  readonly origin: string | null;
  readonly address: string;
  /** Where it counts towards a limit. */
  readonly slots: readonly Slot[];
  /** The generation of keys and accounts at the time of the check. */
  readonly generation: number;
}

/** A slot of a connection. */
interface Slot {
  readonly owner: string;
  /** Connections that may be open at once, by what the principal says at the moment. */
  readonly maxOf: (principal: Principal) => number;
}

const planMax = ({ plan }: Principal) => plan.streamConnections;
const keyMax = ({ limits }: Principal) => limits.streamConnections;

/**
 * The slots of a connection: its key's or its reader's, then its account's or its address's; of the demo key its address's alone. A
 * key without a limit of its own has a slot too, because it may get a limit while the connection is open.
 */
function slotsOf(principal: Principal, address: string): Slot[] {
  const account = { owner: limitOwner(principal, address), maxOf: planMax };
  const isDemo = principal.perAddress && principal.portal === undefined;
  return isDemo ? [account] : [{ owner: ownSlot(principal), maxOf: keyMax }, account];
}

/**
 * Requires what a connection needs: a key that may read streams, or push ticks.
 * @throws Fault account_suspended, live_access_required, insufficient_scope, origin_not_allowed, address_not_allowed, not_in_plan
 */
export function requireStreamAccess(principal: Principal, source: Pick<Admission, "origin" | "address">): void {
  const feeds = hasScope(principal, "market:ingest");
  requireAccess(principal, feeds ? "market:ingest" : "market:stream", "A stream", source);
  requireStreams(principal);
}

/** Admits connections, the same way for every transport. */
export interface Admissions {
  /**
   * Admits a client.
   * @throws Fault unauthorized, key_not_yet_valid, account_suspended, live_access_required, insufficient_scope, origin_not_allowed,
   * address_not_allowed, rate_limited, too_many_connections, service_unavailable while draining
   */
  admit(credentials: Credentials): Promise<Admission>;
  /**
   * Requires a place that a connection could take now; takes none.
   * @throws Fault too_many_connections
   */
  requireConnectionRoom(principal: Principal, address: string): Promise<void>;
  /** Releases the slot of a connection that was never opened. */
  release(admission: Admission): void;
}

interface AdmissionsOptions {
  access: Access;
  connections: Connections;
  draining: () => boolean;
  /** PUBLIC_URL: with the Host header it says which origin is our own. */
  publicUrl: string | undefined;
  /** Rises with each change of keys or accounts. */
  generation: () => number;
  /** Called with an owner who has no slot left. */
  onFull: (owner: string) => void;
  metrics: Pick<Metrics, "refused">;
}

/** What refuses a handshake because there are too many, and not for what it shows. */
const LIMITS: ReadonlySet<string> = new Set<ErrorId>(["rate_limited", "too_many_connections"]);

const DRAINING_RETRY_AFTER_S = 1;
/** By then a dead connection of the owner has been detected. */
const FULL_RETRY_AFTER_S = 5;

/** Creates the admission check. Its guards run in the order of REST: key, account, scope, origin, address, rate, then the slot. */
export function createAdmissions({
  access,
  connections,
  draining,
  publicUrl,
  generation,
  onFull,
  metrics,
}: AdmissionsOptions): Admissions {
  function requireRunning(): void {
    if (draining())
      throw new Fault("service_unavailable", { detail: "The server is shutting down.", retry_after: DRAINING_RETRY_AFTER_S });
  }

  function free(slots: readonly Slot[]): void {
    for (const { owner } of slots) connections.close(owner);
  }

  /** Why an owner gets no slot. */
  function full({ plan }: Principal, owner: string, max: number): Fault {
    // A crashed client may have left dead connections; probing them frees their slots before the pong timeout.
    onFull(owner);
    const whose = max < plan.streamConnections ? "This key" : `The plan "${plan.name}"`;
    const detail = `${whose} allows ${max} connections at a time.`;
    return new Fault("too_many_connections", { detail, max, retry_after: FULL_RETRY_AFTER_S });
  }

  /** @throws Fault too_many_connections */
  async function takeSlots(principal: Principal, address: string): Promise<readonly Slot[]> {
    const slots = slotsOf(principal, address);
    for (const [index, { owner, maxOf }] of slots.entries()) {
      const max = maxOf(principal);
      if (await connections.open(owner, max)) continue;
      free(slots.slice(0, index));
      throw full(principal, owner, max);
    }
    return slots;
  }

  async function requireConnectionRoom(principal: Principal, address: string): Promise<void> {
    for (const { owner, maxOf } of slotsOf(principal, address)) {
      const max = maxOf(principal);
      if (!(await connections.hasRoom(owner, max))) throw full(principal, owner, max);
    }
  }

  async function admit(
    { key, ticket, origin: sent, host, address, id }: Credentials,
    work: Work | undefined,
  ): Promise<Admission> {
    const origin = foreignOrigin(sent, host, publicUrl);
    requireRunning();
    const judgedBy = generation();
    const principal = await (ticket === null ? access.verify(key, address) : access.redeemTicket(ticket, origin, address));
    if (work !== undefined) work.attributes["spotwire.key.kind"] = keyKind(principal);
    requireStreamAccess(principal, { origin, address });
    await access.takeHandshake(principal, address);
    requireRunning();
    const slots = await takeSlots(principal, address);
    try {
      // If the drain has begun in the meantime, nothing would close this connection.
      requireRunning();
    } catch (error) {
      free(slots);
      throw error;
    }
    return { id, principal, origin, address, slots, generation: judgedBy };
  }

  return {
    async admit(credentials) {
      try {
        return await traced(
          () => describe(credentials),
          (work) => admit(credentials, work),
        );
      } catch (error) {
        if (isFault(error) && LIMITS.has(error.id)) metrics.refused("handshake", error.id);
        throw error;
      }
    },
    requireConnectionRoom,
    release: ({ slots }) => free(slots),
  };
}
