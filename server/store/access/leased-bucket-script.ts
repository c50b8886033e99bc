import { PARTS_PER_UNIT, partsPerMs, take, WINDOW_MS } from "#lib/access/limits/bucket";
import { type BucketLender, LEASE_MS, LEASE_NOTED_MS, LEASE_PART } from "#lib/access/limits/bucket-lender";
import { createSharedScript, type SharedOptions } from "#server/store/database/redis-script";

/**
 * A shared bucket. It decides like `take` in bucket.ts, which a test verifies. In addition, units held by nodes are already
 * subtracted, and the allowance refills up to the burst minus what they can still spend, so that all nodes together never allow
 * more than one bucket would.
 *
 * It counts in the same parts of a unit, which Lua's doubles represent exactly. The bucket is stored in units, because earlier
 * releases do so and may run beside this one. A part is far larger than the rounding error of a division, so rounding to the
 * nearest part restores the stored value.
 */
const LUA = `
local key, node = KEYS[1], ARGV[2]
local perMinute, burst, cost, want = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local held, back, owed, opens = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10] == "1"
local WINDOW, LEASE, NOTED, PART = ${WINDOW_MS}, ${LEASE_MS}, ${LEASE_NOTED_MS}, ${LEASE_PART}
local UNIT, refillPerMs, known = ${PARTS_PER_UNIT}, tonumber(ARGV[11]), tonumber(ARGV[14])

local raw = redis.call("GET", key)
local bucket, left
if raw then
  bucket = cmsgpack.unpack(raw)
  left = math.floor(bucket.tokens * UNIT + 0.5)
else
  -- It ran full, or Redis lost it: it begins as the node knows it, which is full where the node knows nothing.
  local start = now - tonumber(ARGV[12])
  bucket = { start = start, used = tonumber(ARGV[13]) + held, at = now, leases = {} }
  left = known - held * UNIT
  if held > 0 then bucket.leases[node] = { units = held, start = start, till = now + NOTED } end
  back, owed = 0, 0
end

local others, mine = 0, nil
for name, lease in pairs(bucket.leases) do
  -- One that ends too far ahead was written before the clock of this server went back.
  if lease.till <= now or lease.till > now + NOTED then bucket.leases[name] = nil
  elseif name == node then mine = lease
  else others = others + lease.units end
end
local noted = mine and mine.units or 0

local running = now < bucket.start + WINDOW
local start = running and math.min(bucket.start, now) or bucket.start
local leasedNow = mine ~= nil and running and mine.start == start
local returned = math.min(back, math.max(0, noted - held))
local refilled = left + math.max(0, now - bucket.at) * refillPerMs
local parts = math.max(0, math.min((burst - others - noted) * UNIT, refilled) + (returned - owed) * UNIT)
-- The allowance refills over more than one window: what passed in the earlier ones counts too.
if owed > 0 then parts = math.max(0, math.min(parts, known - held * UNIT)) end
local used = running and bucket.used + owed or 0
if leasedNow then used = math.max(0, used - returned) end
if opens and not running then
  start = now
  running = true
end

local usedAfter, partsAfter, leased, lasts = used, parts, 0, 0
local fits = running and used + math.min(cost, perMinute) <= perMinute and parts >= math.min(cost, burst) * UNIT
if fits then
  usedAfter = math.min(perMinute, used + cost)
  partsAfter = math.max(0, parts - cost * UNIT)
end
-- Units of a window that is over must not be spent in the next one.
local usable = running and (held == 0 or leasedNow)
if usable then lasts = math.min(LEASE, start + WINDOW - now) end
if usable and fits then
  leased = math.max(0, math.floor(math.min(want, partsAfter / (UNIT * PART), (perMinute - usedAfter) / PART)))
end

local units = held + leased
bucket.leases[node] = units > 0 and { units = units, start = usable and start or (mine and mine.start or 0), till = now + NOTED } or nil
bucket.start, bucket.at = start, now
partsAfter = partsAfter - leased * UNIT
bucket.used, bucket.tokens = usedAfter + leased, partsAfter / UNIT
local keepMs = math.max(start + WINDOW - now, (burst * UNIT - partsAfter) / refillPerMs, NOTED)
redis.call("SET", key, cmsgpack.pack(bucket), "PX", string.format("%.0f", math.ceil(keepMs)))

local function exact(number) return string.format("%.17g", number) end
return { exact(now - start), exact(used), exact(parts), exact(leased), exact(lasts) }
`;

/** Makes the lender of an installation whose nodes share a Redis. */
export function createRedisLender(options: SharedOptions): BucketLender {
  const { redis, clock } = options;
  const script = createSharedScript(options, LUA);
  const ask: BucketLender["ask"] = async (key, { node, limits, cost, want, held, back, owed, opens, known }) => {
    const sentMs = clock.now();
    const { restPerMinute, restBurst } = limits;
    const ageMs = known === undefined ? WINDOW_MS : Math.max(0, sentMs - known.windowStartMs);
    const { parts } = take(known, limits, 0, sentMs).bucket;
    const call = [node, restPerMinute, restBurst, cost, want, held, back, owed, opens ? 1 : 0];
    const asked = [...call, partsPerMs(restPerMinute), ageMs, known?.used ?? 0, parts];
    const answer = (await script(redis.key(`b:${key}`, "bucket"), ...asked)) as readonly string[];
    const [age = 0, used = 0, left = 0, leased = 0, lastsMs = 0] = answer.map(Number);
    // Counted from the time of the call, so that a window and a lease end no later here than in Redis.
    return { bucket: { windowStartMs: sentMs - age, used, parts: left, partsAtMs: sentMs }, leased, lastsMs };
  };
  return { ask, connected: redis.connected };
}
