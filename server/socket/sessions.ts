import { setImmediate as nextTurn } from "node:timers/promises";
import type { Access } from "#lib/access/access";
import type { Principal } from "#lib/access/principal";
import type { Usage } from "#lib/access/usage/usage";
import { concerns } from "#lib/access/verify-key";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { ControlMessage } from "#lib/control";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import type { Flusher } from "#server/hub/outbox";
import { Outbox, type Tally } from "#server/hub/outbox";
import type { Connections } from "./connections";
import type { Admission } from "./handshake";
import type { Peer } from "./peer";
import { Session, type SessionContext, SessionTally } from "./session";
import type { VenueStreams } from "./subscriptions";

/** Interval of the checks on each connection; an expiry is noticed at most this late. */
const SWEEP_INTERVAL_MS = 250;
/**
 * Connections checked in one turn of the event loop. After a restart, thousands are due for a heartbeat in the same check; in a
 * single turn, they would delay every other call.
 */
const SWEEP_TURN_COUNT = 256;
/** Keys that are looked up in parallel after a change. */
const PARALLEL_LOOK_UPS_COUNT = 8;
/** Delay before a failed look-up is retried; also the interval of look-ups while change messages may be lost. */
const LOOK_UP_RETRY_MS = 1_000;

/** All open connections of this process. */
export interface Sessions {
  /** Opens the session of an admitted connection. */
  open(admission: Admission, peer: Peer): Session;
  /** Removes the session of a closed connection. */
  remove(session: Session): void;
  /** Applies a change of keys, accounts or listings. */
  apply(message: ControlMessage): void;
  /** Rises with each change of keys or accounts; an admission records it before it verifies the key. */
  generation(): number;
  count(): number;
  /** Pings the connections of an owner who has no slot left, so that dead ones are cut soon. */
  probe(owner: string): void;
  /** Calls `work` for each open session. */
  each(work: (session: Session) => void): void;
  /** Checks the connections until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface SessionsOptions {
  venues: Readonly<Record<Venue, VenueStreams>>;
  access: Pick<Access, "refresh" | "takeTicks">;
  connections: Connections;
  flusher: Flusher;
  /** Counters of the process. */
  tally: Tally;
  usage: Pick<Usage, "connected">;
  /** True while control messages arrive without gaps. */
  controlConnected: () => boolean;
  docsBase: string;
  clock: Clock;
  log: Logger;
}

/** Identifies the credential of a principal: a key, or a portal token. */
function sourceOf({ keyId, portal }: Principal): string {
  if (portal === undefined) return keyId;
  return `${keyId} ${JSON.stringify(portal)}`;
}

/** Groups sessions by owner, oldest first. */
function byOwner(sessions: Iterable<Session>): Map<string, Session[]> {
  const groups = new Map<string, Session[]>();
  for (const session of sessions) {
    for (const { owner } of session.admission.slots) {
      const group = groups.get(owner);
      if (group === undefined) groups.set(owner, [session]);
      else group.push(session);
    }
  }
  return groups;
}

/** Creates the registry of connections. */
export function createSessions(options: SessionsOptions): Sessions {
  const { venues, access, connections, flusher, tally, usage, controlConnected, docsBase, clock, log } = options;
  const contextOf = (venue: Venue): SessionContext => ({ venue: venues[venue], access, log, docsBase });
  const contexts = { live: contextOf("live"), sandbox: contextOf("sandbox") };
  const sessions = new Set<Session>();
  /** Principals to look up again, by credential. */
  const stale = new Map<string, Principal>();
  let lookingUp = false;
  let retryMs = Number.NEGATIVE_INFINITY;
  let recheckMs = Number.NEGATIVE_INFINITY;
  let failing = false;
  let generation = 0;

  /** Reads the current principal of a credential; a failed read puts it back on the list. */
  async function readAgain(source: string, before: Principal, read: Map<string, Principal | undefined>): Promise<void> {
    try {
      read.set(source, await access.refresh(before));
      failing = false;
    } catch (error) {
      // The state of the key is unknown: its connections stay open, as REST keeps verified keys, and the look-up is retried.
      if (!failing) log.warn({ err: error }, "cannot look up the keys of open connections; retrying");
      failing = true;
      stale.set(source, before);
      retryMs = clock.now() + LOOK_UP_RETRY_MS;
    }
  }

  /** Applies principals to their sessions in one pass, and closes what they no longer allow. */
  function reauthorize(read: ReadonlyMap<string, Principal | undefined>): void {
    const concerned = [...sessions].filter(({ principal }) => read.has(sourceOf(principal)));
    const counts = new Map<string, number>();
    for (const session of concerned) {
      const principal = read.get(sourceOf(session.principal));
      session.reauthorize(principal);
      if (principal !== undefined) for (const { owner, maxOf } of session.admission.slots) counts.set(owner, maxOf(principal));
    }
    if (counts.size === 0) return;
    const owned = byOwner(sessions);
    for (const [owner, max] of counts) enforceCounts(owned.get(owner) ?? [], max);
  }

  /** Closes the newest connections of an owner beyond its limit. */
  function enforceCounts(owned: readonly Session[], max: number): void {
    for (const session of owned.filter(({ closed }) => !closed).slice(max))
      session.close("forbidden", new Fault("too_many_connections", { detail: `Only ${max} connections are allowed now.`, max }));
  }

  async function lookUpStale(): Promise<void> {
    if (lookingUp) return;
    lookingUp = true;
    while (stale.size > 0 && clock.now() >= retryMs) {
      const batch = [...stale].slice(0, PARALLEL_LOOK_UPS_COUNT);
      for (const [source] of batch) stale.delete(source);
      const read = new Map<string, Principal | undefined>();
      await Promise.all(batch.map(([source, principal]) => readAgain(source, principal, read)));
      // A change that arrived during the look-up has put its key back on the list.
      if (read.size > 0) reauthorize(read);
    }
    lookingUp = false;
  }

  function markStale(isConcerned: (principal: Principal) => boolean): void {
    for (const { principal } of sessions) if (isConcerned(principal)) stale.set(sourceOf(principal), principal);
    void lookUpStale();
  }

  async function sweep(): Promise<void> {
    const nowMs = clock.now();
    let count = 0;
    for (const session of sessions) {
      session.sweep(nowMs);
      count += 1;
      if (count % SWEEP_TURN_COUNT === 0) await nextTurn();
    }
    if (!controlConnected() && nowMs >= recheckMs) {
      recheckMs = nowMs + LOOK_UP_RETRY_MS;
      markStale(() => true);
    }
    if (stale.size > 0) void lookUpStale();
  }

  return {
    open(admission, peer) {
      const own = new SessionTally(tally, usage.connected(admission.principal));
      const outbox = new Outbox(peer, flusher, own);
      const session = new Session(contexts[admission.principal.venue], { admission, outbox, peer, tally: own });
      sessions.add(session);
      session.welcome();
      if (admission.generation !== generation) {
        // The key changed during the handshake.
        stale.set(sourceOf(admission.principal), admission.principal);
        void lookUpStale();
      }
      return session;
    },
    remove(session) {
      if (!sessions.delete(session)) return;
      session.gone();
      for (const { owner } of session.admission.slots) connections.close(owner);
    },
    apply(message) {
      const { kind } = message;
      generation += 1;
      markStale((principal) => concerns(message, principal));
      if (kind === "listings" || kind === "everything") for (const session of sessions) session.dropUnlisted();
    },
    generation: () => generation,
    count: () => sessions.size,
    probe(owner) {
      const nowMs = clock.now();
      for (const session of sessions) if (session.admission.slots.some((slot) => slot.owner === owner)) session.probe(nowMs);
    },
    each(work) {
      for (const session of sessions) work(session);
    },
    run: (signal) => repeat({ clock, signal, pause: SWEEP_INTERVAL_MS }, sweep),
  };
}
