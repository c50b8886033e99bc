import type pg from "pg";
import type { Sealer } from "#lib/access/sealer";

/** Secrets of providers that change while the service runs, sealed in the database. */
export interface KeptSecrets {
  /** Undefined where none is kept, or where it was sealed with another secret of the installation. */
  read(name: string): Promise<string | undefined>;
  /**
   * Replaces a secret, one process at a time: the others wait and get what this one kept.
   * @param make gets the one that is kept and returns the next
   * @returns the next one, once it is stored
   */
  change(name: string, make: (kept: string | undefined) => Promise<string>): Promise<string>;
}

const READ = "SELECT sealed FROM provider_secret WHERE name = $1";
const WRITE = `INSERT INTO provider_secret (name, sealed, updated_at) VALUES ($1, $2, now())
  ON CONFLICT (name) DO UPDATE SET sealed = EXCLUDED.sealed, updated_at = EXCLUDED.updated_at`;

export function createKeptSecrets(pool: pg.Pool, sealer: Sealer): KeptSecrets {
  async function readWith(client: Pick<pg.Pool, "query">, name: string): Promise<string | undefined> {
    const { rows } = await client.query<{ sealed: Uint8Array }>(READ, [name]);
    return rows[0] && sealer.open(rows[0].sealed, name);
  }

  return {
    read: (name) => readWith(pool, name),
    async change(name, make) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`provider_secret ${name}`]);
        const next = await make(await readWith(client, name));
        await client.query(WRITE, [name, Buffer.from(sealer.seal(next, name))]);
        await client.query("COMMIT");
        return next;
      } catch (error) {
        await client.query("ROLLBACK").catch((problem: Error) => {
          broken = problem;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
  };
}
