import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { MarketEvent } from "#server/events/event";
import type { Redis } from "#server/store/database/redis";
import { createScript } from "#server/store/database/redis-script";
import { createLatestState } from "./latest-state";
import { COLUMNS_TEXT, type Header, LOG_KEYS, STATE_COLUMNS, STATE_HEADER, STATE_ID, toRow } from "./wire";

/** How long batches stay: a node that was disconnected for less catches up from them. */
const EVENTS_KEPT_S = 60;
/** Upper bound of their number, however fast they come. */
const EVENTS_KEPT_MAX_BATCHES = 50_000;
/** How old the newest records in Redis may be. */
const STATE_INTERVAL_MS = 500;

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

/** A batch as it is sent. It keeps its number until Redis has taken it, so a batch that was taken twice is applied once. */
export interface PrintedBatch {
  readonly header: string;
  readonly events: string;
}

/** Writes the batches of one lease holder to Redis. */
interface BatchWriter {
  /** Encodes a batch and adds its events to the newest records; call it once per batch. */
  print(header: Header, events: readonly MarketEvent[]): PrintedBatch;
  /**
   * Sends a batch, with the newest records when they are due.
   * @returns false, with nothing written, when a higher token has published
   * @throws when Redis is unavailable or rejects the batch; it may have been written all the same
   */
  write(batch: PrintedBatch): Promise<boolean>;
  /** Stops watching the connection. */
  end(): void;
}

interface BatchWriterOptions {
  redis: Redis;
  venue: Venue;
  token: number;
  clock: Clock;
}

/** Makes the writer of a lease; its first batch replaces the state of the previous holder. */
export function createBatchWriter({ redis, venue, token, clock }: BatchWriterOptions): BatchWriter {
  const keys = [LOG_KEYS.fence, LOG_KEYS.events, LOG_KEYS.state].map((name) => redis.key(venue, name));
  const publish = createScript(redis, PUBLISH);
  const state = createLatestState();
  let stateMs = Number.NEGATIVE_INFINITY;
  /** True when Redis may lack our newest records: at start, and after every disconnect. */
  let reset = true;
  // Redis may have restarted empty between two batches without either of them failing.
  const end = redis.onReady(() => {
    reset = true;
  });

  return {
    print(header, events) {
      for (const event of events) state.add(event);
      return { header: JSON.stringify(header), events: JSON.stringify(events.map(toRow)) };
    },
    async write({ header, events }) {
      const due = reset || clock.now() - stateMs >= STATE_INTERVAL_MS;
      const fields = due ? state.take(reset) : [];
      if (due) stateMs = clock.now();
      const kept = [`${EVENTS_KEPT_S}`, `${EVENTS_KEPT_MAX_BATCHES}`];
      const args = [`${token}`, ...kept, header, COLUMNS_TEXT, events, reset ? "reset" : "", ...fields];
      try {
        const id = await publish(keys, args);
        reset = false;
        return id !== null;
      } catch (error) {
        reset = true;
        throw error;
      }
    },
    end,
  };
}

/**
 * Invalidates every lower token before a new lease holder reads the last published state. Returns the highest token so far: when
 * that is not lower than `token`, the database was restored to an earlier state.
 * @throws when Redis is unavailable
 */
export async function raiseFence(redis: Redis, venue: Venue, token: number): Promise<number> {
  const keys = [redis.key(venue, LOG_KEYS.fence)];
  return Number(await createScript(redis, RAISE)(keys, [`${token}`]));
}
