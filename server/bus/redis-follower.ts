import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Redis, RedisClient } from "#lib/redis";
import { type Backoff, repeat } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";
import type { MarketEvent } from "#server/events/event";
import type { Projection } from "#server/view/projection";
import { type Batch, createEventReader, type State } from "./redis-reader";
import { BUS_KEYS, type Header } from "./wire";

/** How long one read waits for new batches; shorter than the timeout of a silent connection. */
const BLOCK_MS = 1_000;
/** Batches per read. */
const READ_MAX_BATCHES = 200;
/** A read that is this much overdue means that the connection is dead. */
const ANSWER_MAX_MS = 1_000;
const READY_LOOK_MS = 100;
const RETRY: Backoff = { firstMs: 100, longestMs: 1_000 };
/** Without a batch for this long (three heartbeats), no node is publishing. */
const SILENT_AFTER_MS = 3_000;
const CATCH_UP_LOOK_MS = 5;
/** How long a takeover waits for what was published before it. */
const CATCH_UP_MAX_MS = 2_000;
const FIRST_ID = "0-0";
/** State older than this may be from another day: its quotes are shown, its klines are read from the store instead. */
const RECENT_MAX_MS = 60_000;

/** Applies the events that another node publishes to this node's projection. */
export interface Follower {
  /** Follows until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the projection has everything that was in Redis at the call, Redis is unreachable, or the signal aborts. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** The header of the newest batch; undefined before the first. */
  header(): Header | undefined;
  /** Whether that batch is recent enough to continue from; an older one says nothing about what was stored since. */
  isRecent(): boolean;
  /** Resolves when the projection has the initial content of Redis; if there was none, with the first batch. */
  readonly begun: Promise<void>;
  /** What is wrong, null while events arrive. */
  problem(): string | null;
}

interface FollowerOptions {
  redis: Redis;
  venue: Venue;
  projection: Projection;
  clock: Clock;
  log: Logger;
}

/** Compares stream ids, which are two numbers each. */
function compareIds(one: string, other: string): number {
  const [a = 0, b = 0] = one.split("-").map(Number);
  const [c = 0, d = 0] = other.split("-").map(Number);
  return a - c || b - d;
}

/**
 * Makes a follower. Each event reaches the projection once and in order: duplicates are recognised by their sequence. After a
 * disconnect it continues from the last batch it read, or, when that is gone, from the newest records, which then carry the
 * number of records they replace. A sequence that jumps without such a number is a real gap.
 */
export function createFollower({ redis, venue, projection, clock, log }: FollowerOptions): Follower {
  const eventsKey = redis.key(venue, BUS_KEYS.events);
  const stateKey = redis.key(venue, BUS_KEYS.state);
  const { recent } = projection;
  const reader = createEventReader();
  let lastId = FIRST_ID;
  let last: Header | undefined;
  let heardMs = Number.NEGATIVE_INFINITY;
  let connected = false;
  let filled = false;
  let newestAtStart = FIRST_ID;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });

  const isRecentId = (id: string) => clock.now() - Number(id.split("-")[0]) <= RECENT_MAX_MS;
  const readState = async (client: RedisClient) => reader.state(await client.hGetAll(stateKey));
  const isNew = ({ epoch, topic, seq }: MarketEvent) => epoch !== recent.epoch() || seq > recent.seq(topic);

  /** Closes the gap before the last batches: the newest records replace those that were missed. */
  function bridge({ header, events }: State): void {
    if (last !== undefined && (header.token < last.token || (header.token === last.token && header.n <= last.n))) return;
    const sameEpoch = header.epoch === recent.epoch();
    const missed = events.filter(({ event }) => isNew(event));
    const position = new Map<string, number>();
    projection.apply(
      missed.map(({ event, complete }) => {
        if (!sameEpoch) return { ...event, restored: true };
        const before = position.get(event.topic) ?? recent.seq(event.topic);
        position.set(event.topic, event.seq);
        const merged = event.seq - before - 1;
        return merged > 0 && (complete || before > recent.seq(event.topic)) ? { ...event, merged } : event;
      }),
    );
    last = header;
  }

  async function take({ id, header, events }: Batch, client: RedisClient): Promise<void> {
    heardMs = clock.now();
    const known = last;
    if (known !== undefined && (header.token < known.token || (header.token === known.token && header.n <= known.n))) return;
    const due = known === undefined || header.token > known.token ? 1 : known.n + 1;
    if (header.n !== due) {
      const state = await readState(client);
      if (state !== undefined) bridge(state);
    }
    const fresh = events.filter(isNew);
    if (fresh.length > 0) projection.apply(fresh);
    if (last === undefined || header.token > last.token || header.n > last.n) last = header;
    if (compareIds(id, newestAtStart) >= 0) begin();
  }

  /** Fills an empty projection: the newest records, and the recent events for clients that were briefly disconnected. */
  async function fill(client: RedisClient): Promise<void> {
    const state = await readState(client);
    if (state === undefined) return;
    const backlog = await client.xRange(eventsKey, "-", state.id);
    for (const message of backlog ?? []) {
      const batch = reader.batch(message);
      if (batch?.header.token === state.header.token) recent.apply(batch.events.filter(isNew));
    }
    const events = state.events.map(({ event }) => event).filter(({ type }) => type !== "kline" || isRecentId(state.id));
    projection.view.apply(events);
    recent.apply(events.filter(isNew));
    last = state.header;
    lastId = state.id;
  }

  async function newestId(client: RedisClient): Promise<string> {
    const newest = await client.xRevRange(eventsKey, "+", "-", { COUNT: 1 });
    return newest?.[0]?.id ?? FIRST_ID;
  }

  async function followOn(client: RedisClient, healthy: () => void, signal: AbortSignal): Promise<void> {
    if (!filled) await fill(client);
    filled = true;
    // A server that restarted empty, perhaps with another clock, starts new ids; batches read before are recognised by number.
    newestAtStart = await newestId(client);
    if (compareIds(newestAtStart, lastId) < 0) lastId = FIRST_ID;
    else if (newestAtStart === lastId && last !== undefined) begin();
    connected = true;
    healthy();
    while (!signal.aborted) {
      const reading = client.xRead({ key: eventsKey, id: lastId }, { BLOCK: BLOCK_MS, COUNT: READ_MAX_BATCHES });
      const read = await withTimeout(reading, BLOCK_MS + ANSWER_MAX_MS, clock, signal);
      for (const message of read?.[0]?.messages ?? []) {
        const batch = reader.batch(message);
        if (batch !== undefined) await take(batch, client);
        else log.warn({ venue, id: message.id }, "skipping a batch of market events that cannot be parsed");
        // Only after the batch was applied: callers of `caughtUp` read the projection next.
        lastId = message.id;
      }
    }
  }

  /** Follows on a dedicated connection until it is lost or the signal aborts. */
  async function followOnce(healthy: () => void, signal: AbortSignal): Promise<void> {
    const client = redis.another();
    const end = () => client.isOpen && client.destroy();
    signal.addEventListener("abort", end, { once: true });
    try {
      while (!client.isReady && !signal.aborted) await clock.wait(READY_LOOK_MS, signal);
      if (!signal.aborted) await followOn(client, healthy, signal);
    } finally {
      connected = false;
      signal.removeEventListener("abort", end);
      end();
    }
  }

  const onError = (error: unknown, failures: number) => {
    // An unreachable Redis has its own log line.
    if (failures === 1 && redis.connected())
      log.warn({ err: error, venue }, "cannot read market events from Redis; trying again");
  };

  return {
    run: (signal) => repeat({ clock, signal, pause: RETRY, atOnce: true, onError }, (healthy) => followOnce(healthy, signal)),
    async caughtUp(signal) {
      try {
        const target = await newestId(redis.client);
        const untilMs = clock.now() + CATCH_UP_MAX_MS;
        // A node that has just started may hold the lease before it follows.
        while (redis.connected() && compareIds(lastId, target) < 0 && clock.now() < untilMs && !signal.aborted)
          await clock.wait(CATCH_UP_LOOK_MS, signal);
      } catch {
        // Redis is unreachable: there is nothing to catch up with.
      }
    },
    header: () => last,
    isRecent: () => isRecentId(lastId),
    begun,
    problem() {
      if (!connected) return "Redis is unreachable; serving the last known data";
      if (last === undefined || heardMs === Number.NEGATIVE_INFINITY) return "no events from an ingest node yet";
      const silentMs = clock.now() - heardMs;
      return silentMs > SILENT_AFTER_MS ? `no events from an ingest node for ${Math.floor(silentMs / 1000)} s` : null;
    },
  };
}
