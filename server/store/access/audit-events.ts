import { LRUCache } from "lru-cache";
import { clientBlock } from "#lib/access/address";
import type { Attempts } from "#lib/access/limits/attempts";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { MINUTE_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { type AuditedChange, audit } from "./audit";

/** Repetitions of an event within this time count as one. */
const WINDOW_MS = 15 * MINUTE_MS;
/** Most events whose repetitions are counted at a time. */
const COUNTED_MAX_COUNT = 10_000;
/** The first, 10th, 100th … of the same events is written. */
const IS_WRITTEN = /^10*$/;

/** What happened without changing anything: who tried to sign in, who was refused, who read what. */
type AuditedEvent = Omit<AuditedChange, "before" | "after"> & { readonly after?: Readonly<Record<string, unknown>> };

/** Writes events into the audit log. Of the same events within 15 minutes it writes the 1st, 10th, 100th …, with their number. */
export interface AuditEvents {
  /** Writes what a trusted user does; resolves when it is stored. */
  note(event: AuditedEvent): Promise<void>;
  /**
   * Writes what strangers cause, off the request that caused it: never throws. Past a few entries a minute it only counts;
   * the next entry says how many were left out.
   */
  noteStranger(event: AuditedEvent): void;
}

interface AuditEventsOptions {
  readonly db: Pick<Database, "prisma">;
  readonly clock: Clock;
  readonly attempts: Attempts;
  readonly log: Logger;
}

/** Makes the writer of a process; repetitions are counted in its memory. */
export function createAuditEvents({ db, clock, attempts, log }: AuditEventsOptions): AuditEvents {
  const counted = new LRUCache<string, { untilMs: number; times: number }>({ max: COUNTED_MAX_COUNT });
  let leftOut = 0;

  /** How often this has happened in its window, with this time. */
  function timesOf({ actor, accountId, action, target, after, address }: AuditedEvent): number {
    const from = address === null ? null : clientBlock(address);
    const key = JSON.stringify([action, actor.id ?? actor.name, accountId, target, after, from]);
    const known = counted.get(key);
    const count = known !== undefined && clock.now() < known.untilMs ? known : { untilMs: clock.now() + WINDOW_MS, times: 0 };
    count.times += 1;
    counted.set(key, count);
    return count.times;
  }

  async function write(event: AuditedEvent, times: number, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const after = { ...event.after, ...(times > 1 && { times }), ...more };
    await audit(db.prisma, { ...event, ...(Object.keys(after).length > 0 && { after }) });
  }

  return {
    async note(event) {
      const times = timesOf(event);
      if (IS_WRITTEN.test(`${times}`)) await write(event, times);
    },
    noteStranger(event) {
      const times = timesOf(event);
      if (!IS_WRITTEN.test(`${times}`)) return;
      try {
        // Made-up addresses must not hide what happens to real accounts.
        attempts.takeHere("audit_stranger", event.accountId === null ? "no account" : "accounts");
      } catch {
        leftOut += 1;
        return;
      }
      const before = leftOut;
      leftOut = 0;
      write(event, times, before > 0 ? { left_out: before } : {}).catch((error: unknown) => {
        leftOut += before + 1;
        log.warn({ err: error }, "an event is missing in the audit log; the next entry counts it");
      });
    },
  };
}
