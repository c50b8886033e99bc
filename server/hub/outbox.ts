import type { CloseId } from "#lib/contract/close-codes";
import { STREAM_NO_PROGRESS_TIMEOUT_S, STREAM_QUEUE_CONFLATE_BYTES, STREAM_QUEUE_MAX_BYTES } from "#lib/contract/limits";
import type { StreamEncoding } from "#lib/contract/stream";
import { conflate } from "#server/events/conflate";
import { mergedOf, type Outgoing } from "./outgoing";

/** Messages of a connection are collected for this long and sent in one write: writes dominate the cost of fan-out. */
export const FLUSH_INTERVAL_MS = 5;

/** A queue to be flushed. */
interface Flushable {
  /** Writes as much as the connection takes now. */
  flush(): void;
}

/** Flushes outboxes together. */
export interface Flusher {
  /** Schedules a flush: immediately when idle, within the interval under load. Call it once per flush. */
  add(due: Flushable): void;
}

/** Creates a flusher. It runs on real timers, because it only paces writes. */
export function createFlusher(): Flusher {
  let due: Flushable[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;

  function flush(): void {
    const outboxes = due;
    due = [];
    lastMs = performance.now();
    for (const outbox of outboxes) outbox.flush();
  }

  return {
    add(outbox) {
      if (due.push(outbox) > 1) return;
      const waitMs = lastMs + FLUSH_INTERVAL_MS - performance.now();
      if (waitMs <= 0) setImmediate(flush);
      else setTimeout(flush, waitMs);
    },
  };
}

/** Size of one write: as much as a socket takes without a pause. */
const WRITE_MAX_BYTES = 65_536;

/** The transport behind an outbox: one connection. */
export interface Wire {
  /** The encoding of the messages that it takes. */
  readonly encoding: StreamEncoding;
  /** True while it takes more. When it becomes true again, the transport calls the outbox's `flush`. */
  ready(): boolean;
  /** Sends messages in order, in one write where the transport can. */
  write(messages: readonly Outgoing[]): void;
  /** Grows with everything handed to the network. */
  progress(): number;
  /** True while written data has not reached the network. */
  pending(): boolean;
}

/** Counters of connections. */
export interface Tally {
  sent(messages: number): void;
  merged(records: number): void;
  /** The server closed the connection. */
  closed(id: CloseId): void;
}

/**
 * The send queue of one connection, and the only way into it. It holds what the connection does not take yet; beyond
 * `STREAM_QUEUE_CONFLATE_BYTES` it conflates market records to the newest of each topic, and it never drops anything else. A
 * class, so that many connections share its methods.
 */
export class Outbox {
  readonly #wire: Wire;
  readonly #flusher: Flusher;
  readonly #tally: Tally;
  #queue: Outgoing[] = [];
  #bytes = 0;
  #conflateAt = STREAM_QUEUE_CONFLATE_BYTES;
  #scheduled = false;
  /** The wire's progress, and when it last grew; NaN while nothing waits. */
  #progress = 0;
  #progressMs = Number.NaN;

  constructor(wire: Wire, flusher: Flusher, tally: Tally) {
    this.#wire = wire;
    this.#flusher = flusher;
    this.#tally = tally;
  }

  /** The encoding of the messages that it takes. */
  get encoding(): StreamEncoding {
    return this.#wire.encoding;
  }

  /** Bytes in the queue. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a message. */
  push(message: Outgoing): void {
    this.#queue.push(message);
    this.#bytes += message.bytes;
    if (this.#bytes > this.#conflateAt) this.#conflate();
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#flusher.add(this);
  }

  /** Writes as much as the connection takes now. */
  flush(): void {
    this.#scheduled = false;
    while (this.#queue.length > 0 && this.#wire.ready()) this.#write();
  }

  /** Discards the queue: the connection is closing. */
  clear(): void {
    this.#queue = [];
    this.#bytes = 0;
  }

  /**
   * Why the reader is too slow; undefined while it keeps up. A reader is slow when it takes nothing for
   * `STREAM_NO_PROGRESS_TIMEOUT_S` while data waits, or when the queue is too long after conflation. Call it at least once a
   * second.
   */
  slowness(nowMs: number): string | undefined {
    if (this.#bytes > STREAM_QUEUE_MAX_BYTES) this.#conflate();
    if (this.#bytes > STREAM_QUEUE_MAX_BYTES)
      return `More than ${STREAM_QUEUE_MAX_BYTES} bytes are queued after merging records.`;
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
    return `The client read nothing for ${STREAM_NO_PROGRESS_TIMEOUT_S} seconds.`;
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
    // The rest cannot be merged: trying again before the queue has doubled would find little.
    this.#conflateAt = Math.max(STREAM_QUEUE_CONFLATE_BYTES, this.#bytes * 2);
  }
}
