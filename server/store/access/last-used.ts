import type { Pool } from "pg";
import { coarseAddress } from "#lib/access/address";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";

const FLUSH_INTERVAL_MS = 5_000;
/** Keys or links whose use waits to be written; past it, with the database away, further ones are not noted. */
const PENDING_MAX_COUNT = 20_000;

/** Remembers when and from where keys or links were used, and writes it in batches off the request path. */
interface LastUsed {
  note(id: string, atMs: number, address: string): void;
  /** Writes what waits. */
  flush(): Promise<void>;
  /** Flushes every few seconds until the signal aborts, then once more. */
  run(signal: AbortSignal): Promise<void>;
}

interface Use {
  atMs: number;
  address: string;
}

const writeTo = (table: string, mark: string) => `
  UPDATE ${table} k SET ${mark}_at = used.at, ${mark}_address = used.address
    FROM unnest($1::uuid[], $2::timestamptz[], $3::text[]) AS used(id, at, address)
   WHERE k.id = used.id AND (k.${mark}_at IS NULL OR k.${mark}_at < used.at)`;

interface LastUsedOptions {
  readonly pool: Pick<Pool, "query">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly table: "api_key" | "data_link";
  /** What the columns begin with: `refused` for uses of keys that have ended. */
  readonly mark?: "last_used" | "refused";
  readonly pendingMax?: number;
}

/** Makes a memory of uses over a table. */
export function createLastUsed(options: LastUsedOptions): LastUsed {
  const { pool, clock, log, table, mark = "last_used", pendingMax = PENDING_MAX_COUNT } = options;
  const write = writeTo(table, mark);
  let uses = new Map<string, Use>();

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const batch = uses;
    uses = new Map();
    const list = [...batch];
    try {
      await pool.query(write, [
        list.map(([id]) => id),
        list.map(([, { atMs }]) => new Date(atMs)),
        list.map(([, { address }]) => coarseAddress(address)),
      ]);
    } catch (error) {
      log.warn(
        { reason: error instanceof Error ? error.message : "unknown", table, rows: list.length },
        "last use of keys or links not written; retrying",
      );
      uses = new Map([...batch, ...uses].slice(0, pendingMax));
    }
  }

  return {
    note(id, atMs, address) {
      const use = uses.get(id);
      if (use !== undefined) {
        use.atMs = atMs;
        use.address = address;
      } else if (uses.size < pendingMax) uses.set(id, { atMs, address });
    },
    flush,
    async run(signal) {
      await repeat({ clock, signal, pause: FLUSH_INTERVAL_MS }, flush);
      await flush();
    },
  };
}
