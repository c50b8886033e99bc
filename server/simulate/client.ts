import type { Topic } from "#server/hub/hub";
import type { Wire } from "#server/hub/outbox";
import type { Outgoing } from "#server/hub/outgoing";
import type { FrameJoiner } from "#server/socket/frames";

/** A socket reports backpressure when this many bytes are unread by the other side. */
const BUFFER_MAX_BYTES = 65_536;
/** Violations kept as text; the rest are only counted. */
const EXAMPLES_MAX_COUNT = 5;

interface Seen {
  /** Sequence of the last record. */
  seq: number;
  records: number;
  merged: number;
}

/** The violations that clients observed. */
export interface Complaints {
  count: number;
  readonly examples: string[];
}

/** Records a violation; only the first few are kept as text. */
export function complain(complaints: Complaints, text: string): void {
  complaints.count += 1;
  if (complaints.examples.length < EXAMPLES_MAX_COUNT) complaints.examples.push(text);
}

/** A connection without a socket: it counts bytes, reads at its own pace, and checks that every missing record is announced. */
export class VirtualClient implements Wire {
  readonly name: string;
  readonly encoding = "json";
  readonly topics: readonly Topic[];
  /** Bytes per millisecond; infinite for a client that keeps up. */
  readonly speed: number;
  bytes = 0;
  messages = 0;
  readonly #joiner: FrameJoiner;
  readonly #seen = new Map<string, Seen>();
  #written: (readonly Outgoing[])[] = [];
  #unread = 0;
  #read = 0;

  constructor(name: string, topics: readonly Topic[], speed: number, joiner: FrameJoiner) {
    this.name = name;
    this.topics = topics;
    this.speed = speed;
    this.#joiner = joiner;
  }

  ready(): boolean {
    return this.#unread < BUFFER_MAX_BYTES;
  }

  write(messages: readonly Outgoing[]): void {
    const { length } = this.#joiner.join(messages);
    this.bytes += length;
    this.messages += messages.length;
    this.#unread += length;
    this.#written.push(messages);
  }

  progress(): number {
    return this.#read;
  }

  pending(): boolean {
    return this.#unread > 0;
  }

  /** Reads what arrives within this many milliseconds; true when its backpressure ends. */
  read(ms: number): boolean {
    const full = !this.ready();
    const taken = Math.min(this.#unread, this.speed * ms);
    this.#unread -= taken;
    this.#read += taken;
    return full && this.ready();
  }

  /** Checks what was written since the last check: each record follows the previous one, or says how many it replaces. */
  check(complaints: Complaints): void {
    const written = this.#written;
    this.#written = [];
    for (const messages of written) for (const message of messages) this.#follow(message, complaints);
  }

  #follow({ event, merged }: Outgoing, complaints: Complaints): void {
    if (event === undefined) return;
    let seen = this.#seen.get(event.topic);
    if (seen === undefined) {
      seen = { seq: 0, records: 0, merged: 0 };
      this.#seen.set(event.topic, seen);
    }
    if (event.seq !== seen.seq + merged + 1)
      complain(complaints, `${this.name} got ${event.topic} ${event.seq} (merged ${merged}) after ${seen.seq}`);
    if (merged > 0 && this.speed === Number.POSITIVE_INFINITY)
      complain(complaints, `${this.name} keeps up, but got ${event.topic} ${event.seq} in place of ${merged} others`);
    seen.seq = event.seq;
    seen.records += 1;
    seen.merged += merged;
  }

  /** Compares the final state with the published sequences; returns how many records were merged into newer ones. */
  finish(lastSeq: (topic: string) => number, complaints: Complaints): number {
    let merged = 0;
    for (const { name } of this.topics) {
      const seen = this.#seen.get(name) ?? { seq: 0, records: 0, merged: 0 };
      if (seen.seq !== lastSeq(name))
        complain(complaints, `${this.name} ended at ${name} ${seen.seq}, but ${lastSeq(name)} were published`);
      if (seen.records + seen.merged !== lastSeq(name))
        complain(
          complaints,
          `${this.name} got ${seen.records} records of ${name} and ${seen.merged} merged ones, not ${lastSeq(name)}`,
        );
      merged += seen.merged;
    }
    return merged;
  }
}
