import type { CloseId } from "#lib/contract/close-codes";
import { STREAM_NO_PROGRESS_TIMEOUT_S, STREAM_QUEUE_CONFLATE_BYTES, STREAM_QUEUE_MAX_BYTES } from "#lib/contract/limits";
import { conflate } from "#server/events/conflate";
import type { Flusher } from "./flusher";
import { mergedOf, type Outgoing } from "./outgoing";

/** Handed over in one write: as much as a socket takes without a pause. */
const WRITE_MAX_BYTES = 65_536;

/** The far end of an outbox: one connection of some transport. */
export interface Wire {
  /** True while it takes more; when it does again, it calls the outbox's `flush`. */
  ready(): boolean;
  /** Sends messages in their order, all at once where the transport can. */
  write(messages: readonly Outgoing[]): void;
  /** Rises with every piece that has left for the network. */
  progress(): number;
  /** True while something that was written has not left. */
  pending(): boolean;
}

/** What connections tell of themselves. */
export interface Tally {
  sent(messages: number): void;
  merged(records: number): void;
  /** The service ended the connection. */
  closed(id: CloseId): void;
}

/**
 * The queue of one connection. It holds back what the connection does not take; past 1 MiB it conflates market records to
 * the newest of each topic, and never drops anything else. A class: there is one for each of many connections, and they
 * share its methods.
 */
export class Outbox {
  readonly #wire: Wire;
  readonly #flusher: Flusher;
  readonly #tally: Tally;
  #queue: Outgoing[] = [];
  #bytes = 0;
  #conflateAt = STREAM_QUEUE_CONFLATE_BYTES;
  #scheduled = false;
  /** The wire's progress and when it was last seen to rise; NaN while nothing waits. */
  #progress = 0;
  #progressMs = Number.NaN;

  constructor(wire: Wire, flusher: Flusher, tally: Tally) {
    this.#wire = wire;
    this.#flusher = flusher;
    this.#tally = tally;
  }

  /** Bytes that wait here. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Puts a message last. */
  push(message: Outgoing): void {
    this.#queue.push(message);
    this.#bytes += message.bytes;
    if (this.#bytes > this.#conflateAt) this.#conflate();
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#flusher.add(this);
  }

  /** Hands over what the connection takes now. */
  flush(): void {
    this.#scheduled = false;
    while (this.#queue.length > 0 && this.#wire.ready()) this.#write();
  }

  /** Throws away what waits: the connection is being closed. */
  clear(): void {
    this.#queue = [];
    this.#bytes = 0;
  }

  /**
   * Why the reader is too slow, undefined while it is not: nothing left for 10 s although something waits, or more waits
   * than can be conflated. Ask at least once a second.
   */
  slowness(nowMs: number): string | undefined {
    if (this.#bytes > STREAM_QUEUE_MAX_BYTES) this.#conflate();
    if (this.#bytes > STREAM_QUEUE_MAX_BYTES) return `More than ${STREAM_QUEUE_MAX_BYTES} bytes wait that cannot be merged.`;
    if (this.#queue.length === 0 && !this.#wire.pending()) {
      this.#progressMs = Number.NaN;
      return undefined;
    }
    const progress = this.#wire.progress();
    if (progress !== this.#progress || Number.isNaN(this.#progressMs)) {
      this.#progress = progress;
      this.#progressMs = nowMs;
      return undefined;
    }
    if (nowMs - this.#progressMs < STREAM_NO_PROGRESS_TIMEOUT_S * 1000) return undefined;
    return `Nothing was taken for ${STREAM_NO_PROGRESS_TIMEOUT_S} seconds.`;
  }

  #write(): void {
    const queue = this.#queue;
    let count = 0;
    let bytes = 0;
    while (count < queue.length && bytes < WRITE_MAX_BYTES) {
      bytes += queue[count]?.bytes ?? 0;
      count += 1;
    }
    const batch = count === queue.length ? queue : queue.slice(0, count);
    this.#queue = count === queue.length ? [] : queue.slice(count);
    this.#bytes -= bytes;
    this.#conflateAt = Math.max(STREAM_QUEUE_CONFLATE_BYTES, Math.min(this.#conflateAt, this.#bytes * 2));
    this.#tally.sent(count);
    this.#wire.write(batch);
  }

  #conflate(): void {
    const kept = conflate(this.#queue, mergedOf);
    this.#tally.merged(this.#queue.length - kept.length);
    this.#queue = kept;
    this.#bytes = kept.reduce((sum, message) => sum + message.bytes, 0);
    // What is left cannot be merged: looking again before as much has come would find nothing.
    this.#conflateAt = Math.max(STREAM_QUEUE_CONFLATE_BYTES, this.#bytes * 2);
  }
}
