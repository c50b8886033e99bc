import type { Access } from "#lib/access/access";
import { limitOwner, type Principal, requireAccess } from "#lib/access/principal";
import { Fault } from "#lib/fault";
import type { Connections } from "./connections";

/** What a client shows at the door. One of key and ticket; with neither it is refused. */
export interface Credentials {
  readonly key: string | null;
  readonly ticket: string | null;
  /** As the browser sent it; null without one. */
  readonly origin: string | null;
  readonly address: string;
  /** Id of the request, and then of the connection. */
  readonly id: string;
}

/** A connection that was let in and holds a place until it is released. */
export interface Admission {
  readonly id: string;
  readonly principal: Principal;
  readonly origin: string | null;
  /** Who its place counts for. */
  readonly owner: string;
  /** The state of keys and accounts it was judged by. */
  readonly generation: number;
}

/** The door of every transport. */
export interface Admissions {
  /**
   * Lets a client in.
   * @throws Fault unauthorized, account_suspended, insufficient_scope, origin_not_allowed, rate_limited,
   * too_many_connections, service_unavailable while draining
   */
  admit(credentials: Credentials): Promise<Admission>;
  /** Gives back the place of a connection that was never opened. */
  release(admission: Admission): void;
}

interface AdmissionsOptions {
  access: Access;
  connections: Connections;
  draining: () => boolean;
  /** Rises with each change of keys or accounts. */
  generation: () => number;
  /** Told of an owner whose places are all taken. */
  onFull: (owner: string) => void;
}

const DRAINING_RETRY_AFTER_S = 1;
/** By then a connection that was left behind has been found out. */
const FULL_RETRY_AFTER_S = 5;

/** Makes the door. The guards come in the order of REST: key, account, scope, origin, rate, then the place. */
export function createAdmissions({ access, connections, draining, generation, onFull }: AdmissionsOptions): Admissions {
  function requireRunning(): void {
    if (draining()) throw new Fault("service_unavailable", { detail: "Shutting down.", retry_after: DRAINING_RETRY_AFTER_S });
  }

  return {
    async admit({ key, ticket, origin, address, id }) {
      requireRunning();
      const judgedBy = generation();
      const principal = await (ticket === null ? access.verify(key, address) : access.redeemTicket(ticket, origin, address));
      requireAccess(principal, "market:stream", "A stream", origin);
      await access.takeHandshake(principal, address);
      requireRunning();
      const owner = limitOwner(principal, address);
      const { streamConnections: max, name } = principal.plan;
      if (!(await connections.open(owner, max))) {
        // A client that crashed may have left connections that nobody holds: it need not wait until their pongs are missed.
        onFull(owner);
        const detail = `The plan "${name}" allows ${max} connections at once.`;
        throw new Fault("too_many_connections", { detail, max, retry_after: FULL_RETRY_AFTER_S });
      }
      try {
        // The drain may have begun meanwhile, and then nobody would close what is opened now.
        requireRunning();
      } catch (error) {
        connections.close(owner);
        throw error;
      }
      return { id, principal, origin, owner, generation: judgedBy };
    },
    release: ({ owner }) => connections.close(owner),
  };
}
