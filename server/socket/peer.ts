import type { CloseId } from "#lib/contract/close-codes";
import type { Wire } from "#server/hub/outbox";
import type { Outgoing } from "#server/hub/outgoing";

/**
 * One connection, whatever its transport.
 *
 * An adapter sends messages in their order and whole, never waits, and calls `flush` of the connection's outbox when it is
 * ready again. It answers for the life of the connection: it pings, notices a far side that is gone, and then calls the
 * session's `end` once. After `close` it sends nothing more and takes nothing in.
 */
export interface Peer extends Wire {
  /** True where a fresh connection has to subscribe soon. */
  readonly awaitsSubscribe: boolean;
  /** Sends a last message past the queue and ends the connection; it is cut when the far side does not answer. */
  close(id: CloseId, last?: Outgoing): void;
  /** Asks the far side for a sign of life now, because its place is wanted; one that gives none soon is cut. */
  probe(nowMs: number): void;
  /** Looks after the connection; called a few times a second with the instant, Unix milliseconds. */
  sweep(nowMs: number): void;
}
