import { createHash } from "node:crypto";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { withTimeout } from "#lib/with-timeout";
import type { Redis } from "./redis";

/** Longest wait for an answer of a shared script; its caller continues without Redis then. */
const ANSWER_MAX_MS = 500;

/**
 * Makes a Lua script that runs as one step: it is called by its hash, so each server receives its text once.
 * @returns a function that calls it with its KEYS and ARGV; rejects when Redis is unreachable or silent, and the script may
 * have run even so
 */
export function createScript(redis: Pick<Redis, "client">, source: string): (keys: string[], args: string[]) => Promise<unknown> {
  const sha = createHash("sha1").update(source).digest("hex");
  return async (keys, args) => {
    // The current connection: a silent one is replaced.
    const { client } = redis;
    const options = { keys, arguments: args };
    try {
      return await client.evalSha(sha, options);
    } catch (error) {
      // A restarted server has no scripts.
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return client.eval(source, options);
      throw error;
    }
  };
}

/** Redis' own time: the clocks of the nodes may differ and jump. A test with a manual clock passes its time as an argument. */
const PRELUDE = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** What every shared script needs. */
export interface SharedOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  /** Replaces Redis' own time in tests with a manual clock. */
  readonly serverClock?: Pick<Clock, "now"> | undefined;
}

/**
 * Runs a script over one key.
 * @throws Error when Redis is unreachable or silent; the script may have run even so
 */
type SharedScript = (key: string, ...args: readonly (string | number)[]) => Promise<unknown>;

/**
 * Makes a Lua script over data that nodes share (rate limits, connection counts) and that each node can also count alone. The
 * script finds its key in KEYS[1], Unix milliseconds in `now`, its arguments from ARGV[2] on.
 */
export function createSharedScript({ redis, clock, log, serverClock }: SharedOptions, lua: string): SharedScript {
  const run = createScript(redis, PRELUDE + lua);
  let failing = false;

  return async (key, ...args) => {
    try {
      const answer = await withTimeout(run([key], [serverClock?.now() ?? "", ...args].map(String)), ANSWER_MAX_MS, clock);
      failing = false;
      return answer;
    } catch (error) {
      // A server that answers with another error (full, read-only) has no log line yet.
      if (!failing && !redis.explains(error)) {
        log.warn({ err: error }, "Redis script failed; counting locally");
        failing = true;
      }
      throw error;
    }
  };
}
