import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import { withTimeout } from "#lib/with-timeout";
import type { Redis, RedisClient } from "#server/store/database/redis";
import type { Cursor } from "./cursor";
import type { Follower } from "./event-log";
import { type Batch, createEventReader } from "./redis-reader";
import { LOG_KEYS } from "./wire";

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

/** A follower that may lead next. */
export interface RedisFollower extends Follower {
  /** Resolves when the cursor has everything that was in Redis at the call, Redis is unreachable, or the signal aborts. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** Whether the last batch is recent enough to continue from; an older one says nothing about what was stored since. */
  isRecent(): boolean;
}

interface FollowerOptions {
  readonly redis: Redis;
  readonly venue: Venue;
  readonly cursor: Cursor;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Compares stream ids, which are two numbers each. */
function compareIds(one: string, other: string): number {
  const [a = 0, b = 0] = one.split("-").map(Number);
  const [c = 0, d = 0] = other.split("-").map(Number);
  return a - c || b - d;
}

/**
 * Follows through Redis, again after every disconnect: from the last batch it read on or, when that is gone, from the newest
 * records, which then carry the number of records they replace.
 */
export function followRedis({ redis, venue, cursor, clock, log }: FollowerOptions): RedisFollower {
  const eventsKey = redis.key(venue, LOG_KEYS.events);
  const stateKey = redis.key(venue, LOG_KEYS.state);
  const reader = createEventReader();
  const stopping = new AbortController();
  let receivedMs = Number.NEGATIVE_INFINITY;
  let connected = false;
  let newestAtStart = FIRST_ID;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });

  const lastId = () => cursor.position || FIRST_ID;
  const isRecentId = (id: string) => clock.now() - Number(id.split("-")[0]) <= RECENT_MAX_MS;
  const readState = async (client: RedisClient) => reader.state(await client.hGetAll(stateKey));

  async function take(batch: Batch, client: RedisClient): Promise<void> {
    receivedMs = clock.now();
    const place = cursor.placeOf(batch.header);
    if (place === "known") return;
    const state = place === "gap" ? await readState(client) : undefined;
    if (state !== undefined) cursor.bridge(state);
    cursor.take(batch);
    if (compareIds(batch.id, newestAtStart) >= 0) begin();
  }

  /** Fills an empty cursor: the newest records, and the recent events for clients that were briefly disconnected. */
  async function fill(client: RedisClient): Promise<void> {
    const state = await readState(client);
    if (state === undefined) return;
    const { id, header, events } = state;
    const messages = (await client.xRange(eventsKey, "-", id)) ?? [];
    const batches = messages.flatMap((message) => reader.batch(message) ?? []);
    const past = batches.filter((batch) => batch.header.token === header.token).map((batch) => batch.events);
    const shown = events.filter(({ event }) => event.type !== "kline" || isRecentId(id));
    cursor.fill({ header, events: shown }, [...past, shown.map(({ event }) => event)]);
    cursor.position = id;
  }

  async function newestId(client: RedisClient): Promise<string> {
    const newest = await client.xRevRange(eventsKey, "+", "-", { COUNT: 1 });
    return newest?.[0]?.id ?? FIRST_ID;
  }

  async function followOn(client: RedisClient, healthy: () => void, signal: AbortSignal): Promise<void> {
    if (cursor.position === "") await fill(client);
    // A server that restarted empty, perhaps with another clock, starts new ids; batches read before are recognised by number.
    newestAtStart = await newestId(client);
    if (compareIds(newestAtStart, lastId()) < 0) cursor.position = FIRST_ID;
    else if (newestAtStart === lastId() && cursor.header() !== undefined) begin();
    connected = true;
    healthy();
    while (!signal.aborted) {
      const reading = client.xRead({ key: eventsKey, id: lastId() }, { BLOCK: BLOCK_MS, COUNT: READ_MAX_BATCHES });
      const read = await withTimeout(reading, BLOCK_MS + ANSWER_MAX_MS, clock, signal);
      for (const message of read?.[0]?.messages ?? []) {
        const batch = reader.batch(message);
        if (batch !== undefined) await take(batch, client);
        else log.warn({ venue, id: message.id }, "skipping a batch of market events that cannot be parsed");
        // Only after the batch was applied: callers of `caughtUp` read the projection next.
        cursor.position = message.id;
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
    if (failures === 1 && !redis.explains(error))
      log.warn({ err: error, venue }, "cannot read market events from Redis; trying again");
  };

  const running = repeat({ clock, signal: stopping.signal, pause: RETRY, atOnce: true, onError }, (healthy) =>
    followOnce(healthy, stopping.signal),
  );

  return {
    begun,
    ended: new Promise(() => undefined),
    standing: cursor.header,
    async caughtUp(signal) {
      try {
        const target = await newestId(redis.client);
        const untilMs = clock.now() + CATCH_UP_MAX_MS;
        // A node that has just started may lead before it follows.
        while (redis.connected() && compareIds(lastId(), target) < 0 && clock.now() < untilMs && !signal.aborted)
          await clock.wait(CATCH_UP_LOOK_MS, signal);
      } catch {
        // Redis is unreachable: there is nothing to catch up with.
      }
    },
    isRecent: () => isRecentId(lastId()),
    problem() {
      if (!connected) return "events cannot be read from Redis; serving the last known data";
      if (cursor.header() === undefined || receivedMs === Number.NEGATIVE_INFINITY) return "no events from an ingest node yet";
      const silentMs = clock.now() - receivedMs;
      return silentMs > SILENT_AFTER_MS ? `no events from an ingest node for ${Math.floor(silentMs / 1000)} s` : null;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
