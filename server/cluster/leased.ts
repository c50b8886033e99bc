import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Writing } from "#server/engine/writing";
import { TokenUsed } from "#server/event-log/event-log";
import { type Leadership, NEVER_LEAD, type WritingOptions } from "#server/market/turn";
import type { Redis } from "#server/store/database/redis";
import { competeForLease, type Lease } from "./lease";

/** A node also waits for the lease. */
const START_MAX_MS = 6_000;
/** A node that never leads waits this long for the newest records before it starts without them. */
const FOLLOWER_START_MAX_MS = 1_000;
/** After a database restore, a token that was used before must not be used again. */
const RAISE_TOKEN = "UPDATE venue_lease SET token = $3, holder = NULL WHERE venue = $1 AND token = $2";
const PUSH_RETRY_AFTER_S = 1;

interface LeasedOptions {
  readonly venue: Venue;
  readonly redis: Pick<Redis, "connected" | "problem">;
  readonly pool: Pick<Pool, "query">;
  /** Where other nodes reach this one. */
  readonly address: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of several nodes the one that holds the venue's lease leads. */
export function leadWithLease({ venue, redis, pool, address, clock, log }: LeasedOptions): Leadership {
  async function compete(lease: Lease, signal: AbortSignal, lead: Parameters<Leadership["compete"]>[1]): Promise<void> {
    const { token, originMs, lost, giveUp } = lease;
    const over = AbortSignal.any([lost, signal]);
    try {
      await lead({ token, originMs, over, giveUp, beginWriting: (options) => beginLeasedWriting(options, lease, redis) });
    } catch (error) {
      if (error instanceof TokenUsed) await pool.query(RAISE_TOKEN, [venue, token, error.highest]);
      throw error;
    }
  }
  return {
    startMaxMs: START_MAX_MS,
    compete: (signal, lead) =>
      competeForLease({ pool, venue, holder: address, able: () => redis.problem() === null, clock, log }, signal, (lease) =>
        compete(lease, signal, lead),
      ),
  };
}

/** Another node leads (ROLE=edge). */
export const NEVER_LEAD_NODES: Leadership = { ...NEVER_LEAD, startMaxMs: FOLLOWER_START_MAX_MS };

/**
 * Begins to write with a lease; a refused write means that it is lost. Pushes are accepted once another holder would continue from
 * them: when Redis has their events or, while it is unreachable, when they are stored.
 */
async function beginLeasedWriting(
  options: WritingOptions,
  { token, lost, giveUp }: Lease,
  redis: Pick<Redis, "connected">,
): Promise<Writing> {
  function refused(): Error {
    giveUp();
    return new Error("another node holds the lease; nothing was written");
  }
  const writer = await options.writer.beginWriter(token, 0);
  if (writer === null) throw refused();
  return {
    writer: {
      async writeBatch(minutes, quotes, ticks) {
        if (!(await writer.write(minutes, quotes, ticks, writer.places))) throw refused();
      },
    },
    keep: () => async (stored) => {
      if ((await options.appender.appended()) || (!redis.connected() && (await stored()))) return;
      const detail = lost.aborted
        ? "Another node now takes the ticks of this venue."
        : "Neither Redis nor the database takes ticks right now.";
      throw new Fault("service_unavailable", { detail, retry_after: PUSH_RETRY_AFTER_S });
    },
  };
}
