import type { StreamUse } from "#lib/access/usage/stream-use";
import type { CloseId } from "#lib/contract/close-codes";
import type { Tally } from "#server/hub/outbox";

/**
 * What one connection tells of itself: to the counters of the process, and as the use of its key. A class: there is one for
 * each of many connections, and they share its methods.
 */
export class SessionTally implements Tally {
  readonly #process: Tally;
  readonly #use: StreamUse;

  constructor(process: Tally, use: StreamUse) {
    this.#process = process;
    this.#use = use;
  }

  sent(messages: number): void {
    this.#process.sent(messages);
    this.#use.sent(messages);
  }

  merged(records: number): void {
    this.#process.merged(records);
    this.#use.merged(records);
  }

  closed(id: CloseId): void {
    this.#process.closed(id);
  }

  /** Topics that the connection follows from now on. */
  subscribed(topics: number): void {
    this.#use.subscribed(topics);
  }

  /** The connection is gone. */
  gone(): void {
    this.#use.closed();
  }
}
