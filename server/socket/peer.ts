import type { CloseId } from "#lib/contract/close-codes";
import type { Wire } from "#server/hub/outbox";
import type { Outgoing } from "#server/hub/outgoing";

/**
 * One connection, over either transport.
 *
 * An adapter sends messages complete and in order, never blocks, and calls `flush` of the session when it can take more. It
 * detects the end of the connection: it pings, notices a client that is gone, and then has the session removed once. After
 * `close` it neither sends nor receives.
 */
export interface Peer extends Wire {
  /** True when a new connection must subscribe within the time limit. */
  readonly awaitsSubscribe: boolean;
  /**
   * Sends a last message ahead of the queue and closes the connection; a client that does not answer is cut. What a flooding one
   * still sends is not read; called again for a connection that closes already.
   */
  close(id: CloseId, last?: Outgoing): void;
  /** Pings the client now, because its slot is needed; without an answer the connection is cut soon. */
  probe(nowMs: number): void;
  /** Runs the checks on the connection; called a few times a second with the time in Unix milliseconds. */
  sweep(nowMs: number): void;
}
