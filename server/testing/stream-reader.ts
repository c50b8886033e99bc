import { decode } from "@msgpack/msgpack";
import type { StreamEncoding } from "#lib/contract/stream";
import type { Flusher } from "#server/hub/outbox";
import { Outbox, type Tally, type Wire } from "#server/hub/outbox";
import type { Outgoing } from "#server/hub/outgoing";

/** The message that is sent. */
export function messageIn({ payload }: Outgoing): Record<string, unknown> {
  return (typeof payload === "string" ? JSON.parse(payload) : decode(payload)) as Record<string, unknown>;
}

/** A reader in memory behind an outbox that takes only what a test allows. */
interface StreamReader {
  readonly outbox: Outbox;
  /** Every message that arrived, in order. */
  readonly taken: Outgoing[];
  /** The messages of each write. */
  readonly writes: (readonly Outgoing[])[];
  /** What the outbox reported to its counters. */
  readonly counts: { sent: number; merged: number };
  /** Takes up to this many writes from now on; what is due is written at once. */
  take(writes: number): void;
  /** Flushes if a flush was requested; returns how often it was. */
  flush(): number;
}

/** Creates a reader that takes `writes` writes, then nothing more until `take` is called. */
export function createStreamReader(writes = 0, encoding: StreamEncoding = "json"): StreamReader {
  const taken: Outgoing[] = [];
  const written: (readonly Outgoing[])[] = [];
  const counts = { sent: 0, merged: 0 };
  let allowed = writes;
  let due = 0;
  const wire: Wire = {
    encoding,
    ready: () => allowed > 0,
    write(messages) {
      allowed -= 1;
      written.push(messages);
      taken.push(...messages);
    },
    progress: () => written.length,
    pending: () => false,
  };
  const tally: Tally = {
    sent: (messages) => {
      counts.sent += messages;
    },
    merged: (records) => {
      counts.merged += records;
    },
    closed: () => undefined,
  };
  const flusher: Flusher = {
    add: () => {
      due += 1;
    },
  };
  const outbox = new Outbox(wire, flusher, tally);
  return {
    outbox,
    taken,
    writes: written,
    counts,
    take(count) {
      allowed = count;
      outbox.flush();
    },
    flush() {
      const asked = due;
      due = 0;
      if (asked > 0) outbox.flush();
      return asked;
    },
  };
}
