import type { Topic } from "#server/hub/hub";
import type { Wire } from "#server/hub/outbox";
import type { Outgoing } from "#server/hub/outgoing";
import type { JoinFrames } from "#server/socket/frames";

/** A socket says that it is full at this many bytes that the far side has not taken. */
const BUFFER_MAX_BYTES = 65_536;
/** Violations that are told; the rest is counted. */
const TOLD_MAX_COUNT = 5;

interface Seen {
  /** Of the last record. */
  seq: number;
  records: number;
  merged: number;
}

/** What clients saw that they should not have. */
export interface Complaints {
  count: number;
  readonly told: string[];
}

/** Notes a complaint; only the first few are kept as text. */
export function complain(complaints: Complaints, text: string): void {
  complaints.count += 1;
  if (complaints.told.length < TOLD_MAX_COUNT) complaints.told.push(text);
}

/** A connection without a socket: it counts bytes, reads at its own pace, and checks that it misses nothing unsaid. */
export class VirtualClient implements Wire {
  readonly name: string;
  readonly topics: readonly Topic[];
  /** Bytes a millisecond; infinite for one that keeps up. */
  readonly speed: number;
  bytes = 0;
  messages = 0;
  readonly #join: JoinFrames;
  readonly #seen = new Map<string, Seen>();
  #written: (readonly Outgoing[])[] = [];
  #unread = 0;
  #read = 0;

  constructor(name: string, topics: readonly Topic[], speed: number, join: JoinFrames) {
    this.name = name;
    this.topics = topics;
    this.speed = speed;
    this.#join = join;
  }

  ready(): boolean {
    return this.#unread < BUFFER_MAX_BYTES;
  }

  write(messages: readonly Outgoing[]): void {
    const { length } = this.#join(messages);
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

  /** Takes what comes within so many milliseconds; true when it is ready again after it was not. */
  read(ms: number): boolean {
    const full = !this.ready();
    const taken = Math.min(this.#unread, this.speed * ms);
    this.#unread -= taken;
    this.#read += taken;
    return full && this.ready();
  }

  /** Looks at what was written since the last look: each record follows the one before it, or says how many it stands for. */
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
      complain(complaints, `${this.name} keeps up, and got ${event.topic} ${event.seq} for ${merged} others`);
    seen.seq = event.seq;
    seen.records += 1;
    seen.merged += merged;
  }

  /** Compares the end with the sequences as they were published; gives how many records newer ones stood for. */
  finish(lastSeq: (topic: string) => number, complaints: Complaints): number {
    let merged = 0;
    for (const { name } of this.topics) {
      const seen = this.#seen.get(name) ?? { seq: 0, records: 0, merged: 0 };
      if (seen.seq !== lastSeq(name))
        complain(complaints, `${this.name} ended at ${name} ${seen.seq}, and ${lastSeq(name)} were published`);
      if (seen.records + seen.merged !== lastSeq(name))
        complain(complaints, `${this.name} got ${seen.records} records of ${name} for ${seen.merged} more, not ${lastSeq(name)}`);
      merged += seen.merged;
    }
    return merged;
  }
}
