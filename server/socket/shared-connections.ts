import { randomUUID } from "node:crypto";
import { repeat } from "#lib/repeat";
import { HOUR_MS } from "#lib/units";
import { createSharedScript, type SharedOptions } from "#server/store/database/redis-script";
import type { Connections } from "./connections";

const BEAT_INTERVAL_MS = 1_000;
/** A node without a heartbeat for this long counts as dead, and its slots are free. */
const SILENT_MAX_MS = 5_000;
/** Interval at which the counts of owners are rewritten, and how long they are kept without it. */
const ANNOUNCE_INTERVAL_MS = 6 * HOUR_MS;
const PLACES_KEPT_MS = 4 * ANNOUNCE_INTERVAL_MS;
/** Owners that are written in parallel. */
const ANNOUNCED_AT_ONCE_COUNT = 500;

/** Heartbeat of a node: returns whether it was known, then the live nodes. The last heartbeat removes it. */
const BEAT = `
local known = redis.call("ZSCORE", KEYS[1], ARGV[2])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
-- Later than any heartbeat: the clock of this server went back.
redis.call("ZREMRANGEBYSCORE", KEYS[1], now + 2 * ${SILENT_MAX_MS}, "+inf")
if ARGV[3] == "gone" then redis.call("ZREM", KEYS[1], ARGV[2])
else redis.call("ZADD", KEYS[1], now + ${SILENT_MAX_MS}, ARGV[2]) end
local alive = redis.call("ZRANGE", KEYS[1], 0, -1)
table.insert(alive, 1, known and tonumber(known) > now and "known" or "new")
return alive
`;

/**
 * The total of one owner with what a node wants. A live node counts; so does one that the caller does not know yet, while its
 * entry is fresh.
 */
const TOTAL = `
local node, wanted, max = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local alive = {}
for index = 5, #ARGV do alive[ARGV[index]] = true end
local total = wanted
local fields = redis.call("HGETALL", KEYS[1])
for index = 1, #fields, 2 do
  local name = fields[index]
  local count, at = string.match(fields[index + 1], "^(%d+) (%d+)$")
  local fresh = math.abs(now - at) < ${SILENT_MAX_MS}
  if name ~= node and (alive[name] or fresh) then total = total + count end
  -- A live node would have rewritten its entry.
  if now - at > ${2 * ANNOUNCE_INTERVAL_MS} then redis.call("HDEL", KEYS[1], name) end
end
`;

/** Returns whether the total is within `max`. */
const ROOM = `${TOTAL}
return total <= max and 1 or 0
`;

/** Writes the count of one owner on a node, unless all nodes together would exceed `max`. */
const PLACES = `${TOTAL}
if total > max then return 0 end
if wanted > 0 then
  redis.call("HSET", KEYS[1], node, string.format("%d %.0f", wanted, now))
  redis.call("PEXPIRE", KEYS[1], ${PLACES_KEPT_MS})
else redis.call("HDEL", KEYS[1], node) end
return 1
`;

/** The connections of one owner on this node. */
interface Counts {
  count: number;
  /** Handshakes waiting for Redis. */
  taking: number;
  /** The last write for this owner. Writes run one after the other, so that the last one wins. */
  tail: Promise<unknown>;
  announcing: boolean;
}

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Counts over all nodes, in Redis. The slots of a dead node are free within seconds. While Redis is unavailable, and until
 * this node has announced its counts again, each node counts for itself.
 */
export function createSharedConnections(options: SharedOptions): Connections {
  const { redis, clock } = options;
  let node: string = randomUUID();
  const beat = createSharedScript(options, BEAT);
  const write = createSharedScript(options, PLACES);
  const look = createSharedScript(options, ROOM);
  const owners = new Map<string, Counts>();
  let alive: readonly string[] = [];
  /** A change did not reach Redis, because it was unavailable. */
  let pending = false;

  function countsOf(owner: string): Counts {
    const found = owners.get(owner);
    if (found !== undefined) return found;
    const counts: Counts = { count: 0, taking: 0, tail: Promise.resolve(), announcing: false };
    owners.set(owner, counts);
    return counts;
  }

  function forget(owner: string, { count, taking, announcing }: Counts): void {
    if (count === 0 && taking === 0 && !announcing) owners.delete(owner);
  }

  const missed = () => {
    pending = true;
  };
  const say = async (owner: string, count: number, max: number) =>
    (await write(redis.key(`c:${owner}`, "places"), node, count, max, ...alive)) === 1;

  /** Writes the current count after earlier writes; several changes become one write. */
  function announce(owner: string, counts: Counts): Promise<unknown> {
    if (counts.announcing) return counts.tail;
    counts.announcing = true;
    counts.tail = counts.tail.then(async () => {
      counts.announcing = false;
      await say(owner, counts.count, NO_LIMIT).catch(missed);
      forget(owner, counts);
    });
    return counts.tail;
  }

  async function announceAll(): Promise<void> {
    const all = [...owners];
    for (let from = 0; from < all.length; from += ANNOUNCED_AT_ONCE_COUNT)
      await Promise.all(all.slice(from, from + ANNOUNCED_AT_ONCE_COUNT).map(([owner, counts]) => announce(owner, counts)));
  }

  /** True when this node was already known. */
  async function beatAs(presence: "here" | "gone"): Promise<boolean> {
    const [known, ...nodes] = (await beat(redis.key("connections", "nodes"), node, presence)) as string[];
    alive = nodes;
    return known === "known";
  }

  /** Earlier entries may be wrong: a new node name abandons them. */
  async function rejoin(): Promise<void> {
    await beatAs("gone");
    node = randomUUID();
    pending = false;
    await beatAs("here");
  }

  async function take(owner: string, counts: Counts, max: number): Promise<boolean> {
    const before = counts.tail;
    counts.taking += 1;
    const taken = before.then(() => say(owner, counts.count + 1, max)).catch(missed);
    counts.tail = taken;
    const opened = (await taken) ?? counts.count < max;
    counts.taking -= 1;
    if (opened) counts.count += 1;
    else forget(owner, counts);
    return opened;
  }

  return {
    count: (owner) => owners.get(owner)?.count ?? 0,
    open(owner, max) {
      const counts = countsOf(owner);
      // Limits waiting handshakes, too.
      if (counts.count + counts.taking >= max) {
        forget(owner, counts);
        return false;
      }
      if (redis.connected()) return take(owner, counts, max);
      missed();
      counts.count += 1;
      return true;
    },
    async hasRoom(owner, max) {
      const { count, taking, tail } = owners.get(owner) ?? { count: 0, taking: 0, tail: undefined };
      if (count + taking >= max) return false;
      if (!redis.connected()) return true;
      // What is being written counts, too.
      await tail;
      const wanted = (owners.get(owner)?.count ?? 0) + 1;
      const asked = look(redis.key(`c:${owner}`, "places"), node, wanted, max, ...alive);
      return asked.then((answer) => answer === 1).catch(() => wanted <= max);
    },
    close(owner) {
      const counts = owners.get(owner);
      if (counts === undefined || counts.count === 0) return;
      counts.count -= 1;
      void announce(owner, counts);
    },
    async run(signal) {
      let announcedMs = clock.now();
      await beatAs("here").catch(missed);
      await repeat({ clock, signal, pause: BEAT_INTERVAL_MS }, async () => {
        // Unknown: the heartbeats stopped for too long, or Redis lost its data.
        const known = await beatAs("here").catch(() => true);
        if (!known || pending) await rejoin().catch(missed);
        else if (clock.now() - announcedMs < ANNOUNCE_INTERVAL_MS) return;
        announcedMs = clock.now();
        await announceAll();
      });
      await Promise.all([...owners.values()].map(({ tail }) => tail));
      await beatAs("gone").catch(() => undefined);
    },
  };
}
