import type { Clock } from "#lib/clock";
import type { Catalogue } from "#lib/market/ports";
import { createEventReader } from "#server/bus/redis-reader";
import { createHub, type Topic } from "#server/hub/hub";
import { Outbox } from "#server/hub/outbox";
import { FrameJoiner } from "#server/socket/frames";
import { createProjection, type Projection } from "#server/view/projection";
import { type Complaints, complain, VirtualClient } from "./client";
import type { WireBatch } from "./ingest";
import { NO_HISTORY, STEP_MS } from "./market";
import type { Meter } from "./meter";

/** A few times a second, sessions check each outbox for a reader that is too slow. */
const SWEEP_INTERVAL_MS = 1_000;
/** A queue whose client reads freely is empty after this many steps, or never. */
const DRAIN_MAX_STEPS = 100_000;

/** A node that sends the events to clients. */
export interface Edge {
  readonly projection: Projection;
  readonly clients: readonly VirtualClient[];
  /** Connects a client that follows these topics from the next event on. */
  open(name: string, topics: readonly Topic[], bytesPerMs: number): void;
  /** Applies a batch, if there is one, and advances the clients by one step of time. */
  step(batch: WireBatch | undefined): void;
  /** Lets the clients read until their queues are empty. */
  drain(): void;
  /** Bytes queued in outboxes. */
  queuedBytes(): number;
  /** Clients closed for being too slow. */
  closed(): number;
}

interface EdgeOptions {
  catalogue: Catalogue;
  clock: Clock;
  meter: Meter;
  complaints: Complaints;
}

interface Connection {
  readonly client: VirtualClient;
  readonly outbox: Outbox;
  open: boolean;
}

/** Makes the node: batches from the wire pass through projection and hub into the outboxes of its clients. */
export function createEdge({ catalogue, clock, meter, complaints }: EdgeOptions): Edge {
  const projection = createProjection({ catalogue, store: NO_HISTORY, clock, epoch: "none", sinceMs: clock.now() });
  const hub = createHub();
  const reader = createEventReader();
  const joiner = new FrameJoiner();
  const connections: Connection[] = [];
  let due: Outbox[] = [];
  let sweptMs = clock.now();
  let id = 0;
  const flusher = { add: (outbox: Outbox) => void due.push(outbox) };
  const tally = { sent: () => undefined, merged: () => undefined, closed: () => undefined };

  function flush(): void {
    const outboxes = due;
    due = [];
    for (const outbox of outboxes) outbox.flush();
  }

  function take(batch: WireBatch): void {
    id += 1;
    const read = meter.measure("decode", () => reader.batch({ id: `${id}-0`, message: batch }));
    if (read === undefined) throw new Error(`cannot decode batch ${id}`);
    meter.measure("follow", () => projection.apply(read.events));
    meter.measure("fan-out", () => hub.apply(read.events));
  }

  function read(): void {
    for (const { client, outbox } of connections) {
      if (client.read(STEP_MS)) meter.measure("fan-out", () => outbox.flush());
      client.check(complaints);
    }
  }

  function sweep(): void {
    sweptMs = clock.now();
    for (const connection of connections) {
      const { client, outbox, open } = connection;
      if (!open || outbox.slowness(sweptMs) === undefined) continue;
      connection.open = false;
      for (const topic of client.topics) hub.unsubscribe(topic, outbox);
      outbox.clear();
    }
  }

  return {
    projection,
    get clients() {
      return connections.filter(({ open }) => open).map(({ client }) => client);
    },
    open(name, topics, bytesPerMs) {
      const shared: Topic[] = [];
      const client = new VirtualClient(name, shared, bytesPerMs, joiner);
      const outbox = new Outbox(client, flusher, tally);
      for (const topic of topics) shared.push(hub.subscribe(topic, outbox));
      connections.push({ client, outbox, open: true });
    },
    step(batch) {
      if (batch !== undefined) take(batch);
      meter.measure("fan-out", flush);
      read();
      if (clock.now() - sweptMs >= SWEEP_INTERVAL_MS) meter.measure("fan-out", sweep);
    },
    drain() {
      let steps = 0;
      for (; steps < DRAIN_MAX_STEPS && connections.some(({ outbox }) => outbox.bytes > 0); steps += 1) {
        flush();
        read();
      }
      if (steps === DRAIN_MAX_STEPS) complain(complaints, "a queue was not emptied");
    },
    queuedBytes: () => connections.reduce((sum, { outbox }) => sum + outbox.bytes, 0),
    closed: () => connections.filter(({ open }) => !open).length,
  };
}
