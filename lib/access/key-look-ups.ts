import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { isDatabaseAway } from "#lib/storage-errors";
import type { Principal } from "./principal";

/** Look-ups under way at once; past it a request with an unknown key is refused and may be retried. */
const LOOK_UPS_MAX_COUNT = 1_000;
/** Look-ups under way from which on those of a client that failed too often must wait. */
const BUSY_COUNT = 50;
/** Longest wait of a request for a look-up, which continues without it: a database that does not answer is unavailable. */
const LOOK_UP_WAIT_MAX_MS = 2_000;
/** Look-ups in the background at once: one that succeeds is enough to show that the database is back. */
const BACKGROUND_LOOK_UPS_MAX_COUNT = 8;
const RETRY_AFTER_S = 1;

/** Looks up the principals of keys in the database, at most one look-up a key at a time. */
interface KeyLookUps<Found> {
  /**
   * The principal of a key; undefined for a key that is not valid. The look-up gets the IP address of the first caller.
   * @throws Fault service_unavailable when too many look-ups are under way or the database does not answer within two
   * seconds; pg's own error where the database said so itself
   */
  find(text: string, address: string): Promise<Found | undefined>;
  /** Starts a look-up that nobody waits for, unless several are under way; false then. */
  findInBackground(text: string, address: string): boolean;
  /** True while so many look-ups are under way that those of clients that failed too often are refused. */
  busy(): boolean;
  /** True from the moment a look-up finds the database unavailable until one succeeds or `databaseMayBeBack` is called. */
  databaseAway(): boolean;
  databaseMayBeBack(): void;
}

/** Bounds and shares look-ups; `lookUp` asks the database for one key. */
export function createKeyLookUps<Found extends Principal>(
  lookUp: (text: string, address: string) => Promise<Found | undefined>,
  clock: Clock,
): KeyLookUps<Found> {
  const pending = new Map<string, Promise<Found | undefined>>();
  let away = false;

  /** All requests that wait for the same key share one look-up. */
  function start(text: string, address: string): Promise<Found | undefined> {
    const running = pending.get(text);
    if (running !== undefined) return running;
    if (pending.size >= LOOK_UPS_MAX_COUNT) throw new Fault("service_unavailable", { retry_after: RETRY_AFTER_S });
    const started = lookUp(text, address)
      .then((principal) => {
        away = false;
        return principal;
      })
      .catch((error: unknown) => {
        if (isDatabaseAway(error)) away = true;
        throw error;
      })
      .finally(() => pending.delete(text));
    pending.set(text, started);
    return started;
  }

  return {
    async find(text, address) {
      const started = start(text, address);
      const answered = new AbortController();
      const late = clock.wait(LOOK_UP_WAIT_MAX_MS, answered.signal).then(() => {
        if (answered.signal.aborted) return undefined;
        away = true;
        throw new Fault("service_unavailable", { detail: "The database does not answer.", retry_after: RETRY_AFTER_S });
      });
      try {
        return await Promise.race([started, late]);
      } finally {
        answered.abort();
        // A request that gave up must not leave an unhandled rejection behind.
        started.catch(() => undefined);
      }
    },
    findInBackground(text, address) {
      if (pending.size >= BACKGROUND_LOOK_UPS_MAX_COUNT) return false;
      start(text, address).catch(() => undefined);
      return true;
    },
    busy: () => pending.size >= BUSY_COUNT,
    databaseAway: () => away,
    databaseMayBeBack() {
      away = false;
    },
  };
}
