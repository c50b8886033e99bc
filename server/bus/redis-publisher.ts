import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import { createScript, type Redis } from "#lib/redis";
import { conflate } from "#server/events/conflate";
import type { MarketEvent } from "#server/events/event";
import { createLatestState } from "./latest-state";
import { BUS_KEYS, COLUMNS_TEXT, type Header, STATE_COLUMNS, STATE_HEADER, STATE_ID, toRow } from "./wire";

/** Events of one batch. */
const BATCH_MAX_EVENTS = 2_000;
/** Events that wait while Redis is away; past it all but closed klines are merged into the newest of their topic. */
export const WAITING_MAX_EVENTS = 100_000;
/** How long batches stay: a node that was away for less catches up from them. */
const EVENTS_KEPT_S = 60;
/** The same as a number, however fast they come. */
const EVENTS_KEPT_MAX_BATCHES = 50_000;
/** A batch without events is sent after this, so that nodes can tell a quiet market from a sender that is gone. */
const HEARTBEAT_INTERVAL_MS = 1_000;
/** How old the newest records in Redis may be. */
const STATE_INTERVAL_MS = 500;
const RETRY_MS = 100;
/** What waits at the end gets this long to leave. */
const STOP_MAX_MS = 1_000;

/**
 * Adds a batch unless a higher token has published, and brings the newest records up to it in the same step.
 * ARGV: token, seconds kept, batches kept, header, columns, events, "reset" or "", then field, value, field, value.
 */
const PUBLISH = `
local fence, token = tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])
if fence > token then return false end
if fence < token then redis.call('SET', KEYS[1], ARGV[1]) end
local oldest = (redis.call('TIME')[1] - ARGV[2]) .. '000'
local id = redis.call('XADD', KEYS[2], 'MINID', '~', oldest, '*', 'header', ARGV[4], 'columns', ARGV[5], 'events', ARGV[6])
redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', ARGV[3])
if ARGV[7] == 'reset' then redis.call('DEL', KEYS[3]) end
if #ARGV > 7 or ARGV[7] == 'reset' then
  redis.call('HSET', KEYS[3], '${STATE_ID}', id, '${STATE_HEADER}', ARGV[4], '${STATE_COLUMNS}', ARGV[5])
  for i = 8, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
end
return id`;

const RAISE = `
local fence = tonumber(redis.call('GET', KEYS[1]) or '0')
if fence < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return fence`;

interface PublisherOptions {
  redis: Redis;
  venue: Venue;
  token: number;
  epoch: string;
  /** Where this node takes pushed ticks. */
  address: string;
  problem: () => string | null;
  /** Called once when a higher token has published: nothing of this one is taken any more. */
  onFenced: () => void;
  clock: Clock;
  log: Logger;
}

/** The way of one epoch's events to the other nodes. */
export interface Publisher {
  /** Takes events in order, at once. @param reachedMs klines have been closed up to here, Unix ms */
  publish(events: readonly MarketEvent[], reachedMs: number): void;
  /** True when all that was taken before stands in Redis; false when that cannot be said now. */
  published(): Promise<boolean>;
  /** Begins to send; call it when the first events that were taken are whole. */
  start(): void;
  /** Sends what waits, as far as Redis takes it in time, and ends. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly event: MarketEvent;
  readonly reachedMs: number;
}

/** Conflates what waits: the newest event of each topic says how many it replaces; closed klines all stay. Nothing is printed. */
function merge(waiting: readonly Waiting[]): Waiting[] {
  const reachedMs = waiting.at(-1)?.reachedMs ?? 0;
  const queue = waiting.map(({ event }) => ({ event, merged: event.merged ?? 0, baseline: event.restored ?? false }));
  return conflate(queue, (item, event, merged) => ({ ...item, event: { ...event, merged }, merged })).map(({ event }) => ({
    event,
    reachedMs,
  }));
}

/** At most so many, without the oldest closed klines, which the store has: of all else only the newest of a topic is left. */
function withoutOldest(merged: Waiting[], max: number): Waiting[] {
  let surplus = merged.length - max;
  return merged.filter(({ event }) => {
    if (surplus <= 0 || event.type !== "kline" || !event.closed) return true;
    surplus -= 1;
    return false;
  });
}

/** A batch on its way. It keeps its number and its events until Redis has taken it: taken twice, it is known by its number. */
interface Batch {
  readonly header: string;
  readonly events: string;
  readonly count: number;
}

/** Makes a publisher: what is taken within one turn, or while a batch is under way, leaves as one batch. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { redis, venue, token, epoch, address, problem, onFenced, clock, log } = options;
  const stopping = new AbortController();
  const ended = new AbortController();
  const keys = [BUS_KEYS.fence, BUS_KEYS.events, BUS_KEYS.state].map((name) => redis.key(venue, name));
  const publishBatch = createScript(redis, PUBLISH);
  const state = createLatestState();
  let waiting: Waiting[] = [];
  /** Events that were taken, and those of them that stand in Redis or in a newer one there. */
  let taken = 0;
  let sent = 0;
  let awaited: { upTo: number; tell: (published: boolean) => void }[] = [];
  let fenced = false;
  let n = 0;
  let reachedMs = 0;
  let stateMs = Number.NEGATIVE_INFINITY;
  /** Redis may hold nothing of ours: at first, and whenever it was away. */
  let reset = true;
  let wake = (): void => undefined;

  function tell(published: boolean): void {
    const told = published ? awaited.filter(({ upTo }) => upTo <= sent) : awaited;
    awaited = awaited.filter((one) => !told.includes(one));
    for (const one of told) one.tell(published);
  }

  function nextBatch(): Batch {
    // Whoever starts from the newest records finds all of them, so they are written in one step.
    const batch = waiting.slice(0, reset ? waiting.length : BATCH_MAX_EVENTS);
    waiting = waiting.slice(batch.length);
    for (const { event } of batch) state.add(event);
    n += 1;
    const atMs = (waiting.length > 0 ? batch.at(-1)?.reachedMs : undefined) ?? reachedMs;
    const header: Header = { token, n, epoch, reachedMs: atMs, address, problem: problem() };
    return {
      header: JSON.stringify(header),
      events: JSON.stringify(batch.map(({ event }) => toRow(event))),
      count: batch.length,
    };
  }

  /** True when Redis has taken it, false when it has to be sent again. */
  async function send({ header, events }: Batch): Promise<boolean> {
    const due = reset || clock.now() - stateMs >= STATE_INTERVAL_MS;
    const fields = due ? state.take(reset) : [];
    if (due) stateMs = clock.now();
    const kept = [`${EVENTS_KEPT_S}`, `${EVENTS_KEPT_MAX_BATCHES}`];
    const args = [`${token}`, ...kept, header, COLUMNS_TEXT, events, reset ? "reset" : "", ...fields];
    try {
      const id = await publishBatch(keys, args);
      if (id === null) {
        fenced = true;
        onFenced();
      }
      reset = false;
      return true;
    } catch (error) {
      reset = true;
      // While it is away its own log line says so; an answer of its own is worth one.
      if (redis.connected()) log.warn({ err: error, venue }, "market events could not be published; they are sent again");
      return false;
    }
  }

  async function deliver(batch: Batch): Promise<void> {
    while (!(await send(batch))) {
      tell(false);
      if (ended.signal.aborted || (stopping.signal.aborted && !redis.connected())) return;
      await clock.wait(RETRY_MS, ended.signal);
      await nextTurn();
    }
    if (fenced) return;
    sent += batch.count;
    tell(true);
  }

  async function idle(): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    await clock.wait(HEARTBEAT_INTERVAL_MS, AbortSignal.any([woken.signal, stopping.signal]));
    wake = () => undefined;
  }

  async function run(): Promise<void> {
    while (!fenced && !ended.signal.aborted) {
      if (waiting.length === 0 && n > 0) {
        if (stopping.signal.aborted) break;
        await idle();
      }
      // What else this turn brings goes along.
      await nextTurn();
      await deliver(nextBatch());
    }
    tell(false);
  }

  function keepWithinBounds(): void {
    if (waiting.length <= WAITING_MAX_EVENTS) return;
    const merged = withoutOldest(merge(waiting), WAITING_MAX_EVENTS / 2);
    sent += waiting.length - merged.length;
    waiting = merged;
  }
  let running: Promise<void> | undefined;
  // It may have come back empty between two batches, and none of them failed.
  const endReset = redis.onReady(() => {
    reset = true;
  });

  return {
    publish(events, atMs) {
      reachedMs = atMs;
      if (fenced || events.length === 0) return;
      for (const event of events) waiting.push({ event, reachedMs: atMs });
      taken += events.length;
      keepWithinBounds();
      wake();
    },
    published() {
      if (fenced || stopping.signal.aborted || !redis.connected()) return Promise.resolve(false);
      if (taken <= sent) return Promise.resolve(true);
      return new Promise((resolve) => awaited.push({ upTo: taken, tell: resolve }));
    },
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await Promise.race([running, clock.wait(STOP_MAX_MS)]);
      ended.abort();
      endReset();
    },
  };
}

/**
 * Makes every lower token void, before the new holder looks at what was published last. Gives the highest token there was before:
 * one that is not lower shows that the database was put back to an earlier state.
 * @throws when Redis is away
 */
export async function raiseFence(redis: Redis, venue: Venue, token: number): Promise<number> {
  const keys = [redis.key(venue, BUS_KEYS.fence)];
  return Number(await createScript(redis, RAISE)(keys, [`${token}`]));
}
