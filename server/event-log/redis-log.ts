import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Redis } from "#server/store/database/redis";
import { type EventLog, type Leading, TokenUsed } from "./event-log";
import { createAppender } from "./redis-appender";
import { followRedis, type RedisFollower } from "./redis-follower";
import { raiseFence } from "./redis-writer";

interface RedisLogOptions {
  readonly redis: Redis;
  readonly venue: Venue;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A log from the node that leads a venue to all nodes, itself included. Redis keeps the last minute and the newest records. */
export function createRedisLog({ redis, venue, clock, log }: RedisLogOptions): EventLog {
  let follower: RedisFollower | undefined;

  /**
   * Fences off leaders with lower tokens and waits until their last events are in the cursor. False when Redis is unreachable: the
   * store is then newer than the cursor.
   */
  async function takeOver({ token, over }: Leading): Promise<boolean> {
    let highest: number;
    try {
      highest = await raiseFence(redis, venue, token);
    } catch (error) {
      const reason = redis.explains(error) ? redis.problem() : String(error);
      log.warn({ venue, reason }, "events cannot be read from Redis; continuing from stored data");
      return false;
    }
    if (highest >= token) throw new TokenUsed(highest);
    await follower?.caughtUp(over);
    return true;
  }

  return {
    inProcess: false,
    async lead(leading) {
      const caughtUp = await takeOver(leading);
      const before = follower?.isRecent() ? follower.standing() : undefined;
      return { before, caughtUp, ...createAppender({ redis, venue, leading, clock, log }) };
    },
    follow(cursor) {
      follower = followRedis({ redis, venue, cursor, clock, log });
      return follower;
    },
  };
}
