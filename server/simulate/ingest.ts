import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import type { Catalogue } from "#lib/market/ports";
import { createLatestState } from "#server/bus/latest-state";
import { COLUMNS_TEXT, type Header, toRow } from "#server/bus/wire";
import { createEngine } from "#server/engine/engine";
import type { MarketEvent } from "#server/events/event";
import { createMemoryBus } from "#server/events/memory-bus";
import { createProjection, type Projection } from "#server/view/projection";
import { NO_HISTORY } from "./market";
import type { Meter } from "./meter";

const EPOCH = "simulate";
/** Maximum age of the newest records in Redis, as in the publisher. */
const STATE_INTERVAL_MS = 500;

/** A batch as stored in the stream. */
export type WireBatch = Readonly<Record<"header" | "columns" | "events", string>>;

/** The node that produces the events. */
export interface Ingest {
  readonly projection: Projection;
  /** Applies the ticks of a step and closes klines up to now; returns the batch for the other nodes, undefined without changes. */
  step(ticks: readonly Tick[]): WireBatch | undefined;
  /** Bytes written besides the batches: the newest records, for nodes that start. */
  stateBytes(): number;
  /** Events so far. */
  events(): number;
  /** Sequence of the last event of a topic. */
  lastSeq(topic: string): number;
}

interface IngestOptions {
  catalogue: Catalogue;
  clock: Clock;
  meter: Meter;
}

/** Length of an encoded batch, bytes. */
export function bytesOf(batch: WireBatch): number {
  return Object.entries(batch).reduce((sum, [name, text]) => sum + name.length + text.length, 0);
}

/** Makes the node: engine, memory bus, its own projection, and the batches for the others. */
export function createIngest({ catalogue, clock, meter }: IngestOptions): Ingest {
  const engine = createEngine({
    listingOf: catalogue.find,
    calendarOf: catalogue.calendar,
    alignment: createAlignment(),
    epoch: EPOCH,
  });
  const projection = createProjection({ catalogue, store: NO_HISTORY, clock, epoch: EPOCH, sinceMs: clock.now() });
  const bus = createMemoryBus();
  const state = createLatestState();
  const seqs = new Map<string, number>();
  let waiting: MarketEvent[] = [];
  let n = 0;
  let stateMs = clock.now();
  let stateBytes = 0;
  let count = 0;
  bus.subscribe((events) => meter.measure("projection", () => projection.apply(events)));
  bus.subscribe((events) => {
    waiting.push(...events);
    for (const { topic, seq } of events) seqs.set(topic, seq);
  });

  function make(ticks: readonly Tick[], nowMs: number): MarketEvent[] {
    const events: MarketEvent[] = engine.advance(nowMs);
    for (const tick of ticks) {
      const rejection = engine.judge(tick, nowMs);
      if (rejection !== null) throw new Error(`a tick of ${tick.ticker} was rejected: ${rejection}`);
      events.push(...engine.ingest(tick));
    }
    return events;
  }

  function encode(events: readonly MarketEvent[], nowMs: number): WireBatch {
    for (const event of events) state.add(event);
    n += 1;
    const header: Header = { token: 1, n, epoch: EPOCH, reachedMs: nowMs, address: "http://ingest:3000", problem: null };
    if (nowMs - stateMs >= STATE_INTERVAL_MS) {
      stateMs = nowMs;
      for (const text of state.take(false)) stateBytes += text.length;
    }
    return { header: JSON.stringify(header), columns: COLUMNS_TEXT, events: JSON.stringify(events.map(toRow)) };
  }

  return {
    projection,
    step(ticks) {
      const nowMs = clock.now();
      bus.publish(meter.measure("engine", () => make(ticks, nowMs)));
      const events = waiting;
      waiting = [];
      count += events.length;
      return events.length === 0 ? undefined : meter.measure("encode", () => encode(events, nowMs));
    },
    stateBytes: () => stateBytes,
    events: () => count,
    lastSeq: (topic) => seqs.get(topic) ?? 0,
  };
}
