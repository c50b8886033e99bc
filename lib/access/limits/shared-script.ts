import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { createScript, type Redis } from "#lib/redis";
import { withTimeout } from "#lib/with-timeout";

/** Longest wait for an answer; whoever asked goes on without Redis then. */
const ANSWER_MAX_MS = 500;

/** Redis' own time: the clocks of the nodes may differ, and step. A test that moves a clock gives its time as an argument. */
const PRELUDE = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** What every script over Redis is given. */
export interface SharedOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  /** Stands in for Redis' own time where a test moves it. */
  readonly serverClock?: Pick<Clock, "now"> | undefined;
}

/**
 * Runs a script over one key.
 * @throws Error when Redis is away or silent; the script may have run all the same
 */
type SharedScript = (key: string, ...args: readonly (string | number)[]) => Promise<unknown>;

/** Makes a script of Lua that finds its key in KEYS[1], Unix milliseconds in `now`, its arguments from ARGV[2] on. */
export function createSharedScript({ redis, clock, log, serverClock }: SharedOptions, lua: string): SharedScript {
  const run = createScript(redis, PRELUDE + lua);
  let failing = false;

  return async (key, ...args) => {
    try {
      const answer = await withTimeout(run([key], [serverClock?.now() ?? "", ...args].map(String)), ANSWER_MAX_MS, clock);
      failing = false;
      return answer;
    } catch (error) {
      // A connection that is lost is told of by itself; a server that is there and refuses (full, read-only) is not.
      if (!failing && redis.connected()) {
        log.warn({ err: error }, "Redis does not do as asked; this node counts for itself meanwhile");
        failing = true;
      }
      throw error;
    }
  };
}
