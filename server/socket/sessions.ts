import type { Access } from "#lib/access/access";
import type { Principal } from "#lib/access/principal";
import type { Usage } from "#lib/access/usage/usage";
import { concerns } from "#lib/access/verify-key";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control/control";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import type { Flusher } from "#server/hub/flusher";
import { Outbox, type Tally } from "#server/hub/outbox";
import type { Admission } from "./admission";
import type { Connections } from "./connections";
import type { Peer } from "./peer";
import { Session } from "./session";
import { SessionTally } from "./session-tally";
import type { VenueStreams } from "./venue-streams";

/** How often every connection is looked after; an expiry is noticed this late at most. */
const SWEEP_INTERVAL_MS = 250;
/** Keys that are looked up at once after a change. */
const PARALLEL_LOOK_UPS_COUNT = 8;
/** A key that could not be looked up is tried again after this; so is every key while changes may go unheard. */
const LOOK_UP_AGAIN_MS = 1_000;

/** All open connections of this process. */
export interface Sessions {
  /** Opens the session of a connection that was let in; `connect` makes its peer, given what calls for a flush. */
  open(admission: Admission, connect: (flush: () => void) => Peer): Session;
  /** The connection is gone. */
  remove(session: Session): void;
  /** Acts on a change of keys, accounts or listings. */
  apply(message: ControlMessage): void;
  /** Rises with each change of keys or accounts; an admission notes it before it asks who comes. */
  generation(): number;
  count(): number;
  /** Cuts those connections of an owner soon that nobody holds any more: all its places are taken, and one more is wanted. */
  probe(owner: string): void;
  /** Calls `work` for each open session. */
  each(work: (session: Session) => void): void;
  /** Looks after the connections until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface SessionsOptions {
  venues: Readonly<Record<Venue, VenueStreams>>;
  access: Pick<Access, "refresh">;
  connections: Connections;
  flusher: Flusher;
  /** Counters of the process. */
  tally: Tally;
  usage: Pick<Usage, "connected">;
  /** True while every control message is heard. */
  controlConnected: () => boolean;
  docsBase: string;
  clock: Clock;
  log: Logger;
}

/** What a principal was verified by: a key, or the token that stands in for one. */
function sourceOf({ keyId, portal }: Principal): string {
  return portal === undefined ? keyId : `${keyId} ${portal.session} ${portal.until}`;
}

/** The sessions of each owner, in the order in which they were opened. */
function byOwner(sessions: Iterable<Session>): Map<string, Session[]> {
  const groups = new Map<string, Session[]>();
  for (const session of sessions) {
    const { owner } = session.admission;
    const group = groups.get(owner);
    if (group === undefined) groups.set(owner, [session]);
    else group.push(session);
  }
  return groups;
}

/** Makes the register of connections, with none open. */
export function createSessions(options: SessionsOptions): Sessions {
  const { venues, access, connections, flusher, tally, usage, controlConnected, docsBase, clock, log } = options;
  const sessions = new Set<Session>();
  /** Principals that have to be looked up again, by what they were verified by. */
  const stale = new Map<string, Principal>();
  let lookingUp = false;
  let retryMs = Number.NEGATIVE_INFINITY;
  let unheardMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  let generation = 0;

  /** The principals as they are now, by source; those that could not be read are put back on the list. */
  async function readAgain(source: string, before: Principal, read: Map<string, Principal | undefined>): Promise<void> {
    try {
      read.set(source, await access.refresh(before));
      failing = false;
    } catch (error) {
      // Nothing is known of the key: its connections stay, as REST's verified keys do, and it is asked for again.
      if (!failing) log.warn({ err: error }, "keys of open connections cannot be looked up; they are asked for again");
      failing = true;
      stale.set(source, before);
      retryMs = clock.now() + LOOK_UP_AGAIN_MS;
    }
  }

  /** Gives principals to their sessions, in one pass for all of them, and ends what they do not allow. */
  function reauthorize(read: ReadonlyMap<string, Principal | undefined>): void {
    const concerned = [...sessions].filter(({ principal }) => read.has(sourceOf(principal)));
    const places = new Map<string, number>();
    for (const session of concerned) {
      const principal = read.get(sourceOf(session.principal));
      session.reauthorize(principal);
      if (principal !== undefined) places.set(session.admission.owner, principal.plan.streamConnections);
    }
    if (places.size === 0) return;
    const owned = byOwner(sessions);
    for (const [owner, max] of places) enforcePlaces(owned.get(owner) ?? [], max);
  }

  /** Ends the newest connections of an owner that the plan has no place for any more. */
  function enforcePlaces(owned: readonly Session[], max: number): void {
    for (const session of owned.filter(({ closed }) => !closed).slice(max))
      session.close("forbidden", new Fault("too_many_connections", { detail: `The plan now allows ${max} connections.`, max }));
  }

  async function lookUpStale(): Promise<void> {
    if (lookingUp) return;
    lookingUp = true;
    while (stale.size > 0 && clock.now() >= retryMs) {
      const batch = [...stale].slice(0, PARALLEL_LOOK_UPS_COUNT);
      for (const [source] of batch) stale.delete(source);
      const read = new Map<string, Principal | undefined>();
      await Promise.all(batch.map(([source, principal]) => readAgain(source, principal, read)));
      // A change that came meanwhile has put its key on the list again.
      if (read.size > 0) reauthorize(read);
    }
    lookingUp = false;
  }

  function markStale(isConcerned: (principal: Principal) => boolean): void {
    for (const { principal } of sessions) if (isConcerned(principal)) stale.set(sourceOf(principal), principal);
    void lookUpStale();
  }

  function sweep(): void {
    const nowMs = clock.now();
    for (const session of sessions) session.sweep(nowMs);
    if (!controlConnected() && nowMs >= unheardMs) {
      unheardMs = nowMs + LOOK_UP_AGAIN_MS;
      markStale(() => true);
    }
    if (stale.size > 0) void lookUpStale();
  }

  return {
    open(admission, connect) {
      const venue = venues[admission.principal.venue];
      // The two know each other: the outbox writes to the peer, which asks it to go on.
      let outbox: Outbox | undefined;
      const peer = connect(() => outbox?.flush());
      const own = new SessionTally(tally, usage.connected(admission.principal));
      outbox = new Outbox(peer, flusher, own);
      const session = new Session({ admission, venue, outbox, peer, tally: own, docsBase, log });
      sessions.add(session);
      session.welcome();
      if (admission.generation !== generation) {
        // The key changed while its bearer came in.
        stale.set(sourceOf(admission.principal), admission.principal);
        void lookUpStale();
      }
      return session;
    },
    remove(session) {
      if (!sessions.delete(session)) return;
      session.gone();
      connections.close(session.admission.owner);
    },
    apply(message) {
      const { kind } = message;
      generation += 1;
      markStale((principal) => concerns(message, principal));
      if (kind === "listings" || kind === "everything") for (const session of sessions) session.relist();
    },
    generation: () => generation,
    count: () => sessions.size,
    probe(owner) {
      const nowMs = clock.now();
      for (const session of sessions) if (session.admission.owner === owner) session.probe(nowMs);
    },
    each(work) {
      for (const session of sessions) work(session);
    },
    run: (signal) => repeat({ clock, signal, pause: SWEEP_INTERVAL_MS }, sweep),
  };
}
