import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { BEAT_MS, competitor, LOOK_MS, whenAborted } from "#server/testing/lease-competitor";
import { competeForLease, type Lease } from "./lease";

const FREE_AFTER_MS = 3_000;
const VENUE = "live";
const log = createLog("silent");

describe("the lease of a venue", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  beforeEach(() => db.pool.query("DELETE FROM venue_lease"));
  afterAll(() => db?.close());

  type Options = Partial<Parameters<typeof competitor>[1]>;
  const compete = (name: string, options: Options = {}) => competitor(name, { pool: db.pool, ...options });

  /** The database through a proxy of this test. */
  async function doorway() {
    const door = await proxyTo(db.url);
    await door.open();
    const pool = new pg.Pool({ connectionString: door.url, max: 3 });
    pool.on("error", () => undefined);
    onTestFinished(() => pool.end());
    return { door, pool };
  }

  /** A holder of the lease, and another node that has read the lease once. */
  async function two(options: Options = {}) {
    // In an empty table the first read creates the row, the second takes it.
    const holder = await compete("holder");
    await holder.look(LOOK_MS);
    expect(holder.lease()?.token).toBe(1);
    return { holder, other: await compete("other", options) };
  }
  const row = async () => (await db.pool.query("SELECT token, beat, holder FROM venue_lease")).rows[0];

  test("of many competing nodes one holds the lease at any time, each with a higher token, until all have had it", async () => {
    let holding = 0;
    let most = 0;
    const tokens: number[] = [];
    const count = 8;
    const nodes = Array.from({ length: count }, (_, index) => {
      const stopping = new AbortController();
      const options = { pool: db.pool, venue: VENUE, holder: `node ${index}`, clock: systemClock, log } as const;
      const done = competeForLease(options, stopping.signal, async ({ token, lost }) => {
        holding += 1;
        most = Math.max(most, holding);
        tokens.push(token);
        stopping.abort();
        await whenAborted(lost, stopping.signal);
        await db.pool.query("SELECT 1");
        holding -= 1;
      });
      onTestFinished(async () => {
        stopping.abort();
        await done;
      });
      return done;
    });
    await Promise.all(nodes);
    expect(tokens).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(most).toBe(1);
  });

  test("a lease is taken from a silent holder after three seconds of the taker's own time, not a millisecond earlier", async () => {
    const { other } = await two();
    for (let looks = 0; looks < FREE_AFTER_MS / LOOK_MS - 1; looks += 1) await other.look(LOOK_MS);
    await other.look(LOOK_MS - 1);
    expect(other.held).toEqual([]);
    await other.look(1);
    expect(other.lease()?.token).toBe(2);
    expect(await row()).toMatchObject({ token: "2", holder: "other" });
  });

  test("a lease is not taken when its holder renewed it after the read", async () => {
    let between = (): Promise<void> => Promise.resolve();
    const query = async (text: string, values: unknown[]) => {
      const answer = await db.pool.query(text, values);
      const [found] = answer.rows;
      if (found?.holder === "holder") await between();
      return answer;
    };
    const { holder, other } = await two({ pool: { query } as unknown as Pick<pg.Pool, "query"> });
    between = () => holder.beat();
    await other.look(FREE_AFTER_MS);
    expect(other.held).toEqual([]);
    expect(await row()).toMatchObject({ token: "1", holder: "holder" });
    expect(holder.lease()?.lost.aborted).toBe(false);
  });

  test("a lease is never taken while its beat changes, however late the renewals come", async () => {
    const { holder, other } = await two();
    for (let beats = 0; beats < 5; beats += 1) {
      await other.look(FREE_AFTER_MS - 1);
      await holder.beat();
    }
    await other.look(FREE_AFTER_MS - 1);
    await other.look(FREE_AFTER_MS - 1);
    expect(other.held).toEqual([]);
    expect(holder.lease()?.lost.aborted).toBe(false);
    await other.look(1);
    expect(other.lease()?.token).toBe(2);
  });

  test("a difference of wall clocks never frees the lease", async () => {
    const { holder, other } = await two({ startMs: 4e12 });
    await db.pool.query("UPDATE venue_lease SET beaten_at = '2001-01-01'");
    await other.look(LOOK_MS);
    other.clock.set(8e12);
    await other.look(LOOK_MS);
    expect(other.held).toEqual([]);
    expect(holder.lease()).toBeDefined();
  });

  test("a read of the lease that failed or took long proves nothing about the time before it", async () => {
    const { door, pool } = await doorway();
    const { other } = await two({ pool });
    await other.look(FREE_AFTER_MS - 1);
    door.shut();
    await other.look(LOOK_MS);
    await door.open();
    await other.look(LOOK_MS);
    await other.look(FREE_AFTER_MS - 1);
    expect(other.held).toEqual([]);
    await other.lookSlowly(FREE_AFTER_MS);
    expect(other.held).toEqual([]);
    await other.look(FREE_AFTER_MS - 1);
    expect(other.held).toEqual([]);
    await other.look(1);
    expect(other.lease()?.token).toBe(2);
  });

  test("a released lease goes to another node at its next read, and the token rises with every restart", async () => {
    const tokens: (number | undefined)[] = [];
    let node = await compete("first");
    await node.look(0);
    for (let restart = 0; restart < 5; restart += 1) {
      tokens.push(node.lease()?.token);
      const next = await compete("next");
      expect(next.held).toEqual([]);
      await node.stop();
      expect((await row()).holder).toBeNull();
      await next.look(0);
      node = next;
    }
    expect(tokens).toEqual([1, 2, 3, 4, 5]);
  });

  test("while the database is unavailable the holder keeps the lease and nobody takes it, and afterwards the holder continues", async () => {
    const { door, pool } = await doorway();
    const holder = await compete("holder", { pool });
    await holder.look(0);
    const other = await compete("other", { pool });
    door.shut();
    for (let times = 0; times < 5; times += 1) {
      await holder.beat();
      await other.look(60 * FREE_AFTER_MS);
    }
    expect(holder.lease()?.lost.aborted).toBe(false);
    expect(other.held).toEqual([]);
    await door.open();
    const { beat } = await row();
    await other.look(0);
    await holder.beat();
    await other.look(FREE_AFTER_MS - 1);
    expect(BigInt((await row()).beat)).toBeGreaterThan(BigInt(beat));
    expect([holder.held.length, other.held]).toEqual([1, []]);
  });

  test("a holder that lost its lease learns so at its next renewal, and does not release the lease of its successor", async () => {
    const { holder, other } = await two();
    const { lost } = holder.lease() as Lease;
    await other.look(FREE_AFTER_MS);
    expect(lost.aborted).toBe(false);
    await holder.clock.advance(BEAT_MS);
    await vi.waitUntil(() => lost.aborted);
    await holder.clock.waitingFor(LOOK_MS);
    expect(await row()).toMatchObject({ token: "2", holder: "other" });
    await holder.look(FREE_AFTER_MS - 1);
    expect(holder.held).toHaveLength(1);
  });

  test("a holder cut off from the others leaves the lease to a node that is not, and keeps it while there is none", async () => {
    let reaches = true;
    const able = () => reaches;
    const holder = await compete("holder", { able });
    await holder.look(LOOK_MS);
    reaches = false;
    await holder.beat(10_000);
    await holder.beat(10_000);
    expect(holder.lease()?.lost.aborted).toBe(false);
    const deaf = await compete("deaf", { able });
    await holder.beat(10_000);
    expect(holder.lease()?.lost.aborted).toBe(false);
    const other = await compete("other");
    const { lost } = holder.lease() as Lease;
    await holder.clock.advance(BEAT_MS);
    await vi.waitUntil(() => lost.aborted);
    await holder.clock.waitingFor(LOOK_MS);
    await deaf.look(0);
    expect(deaf.held).toEqual([]);
    await other.look(0);
    expect(other.lease()?.token).toBe(2);
  });

  test("a node that gives the lease up, or fails to hold it, leaves it to the next", async () => {
    const failing = await compete("failing", { hold: () => Promise.reject(new Error("cannot start")) });
    await failing.look(0);
    await failing.clock.waitingFor(LOOK_MS);
    expect(await row()).toMatchObject({ token: "1", holder: null });
    await failing.stop();
    const holder = await compete("holder");
    expect(holder.lease()?.token).toBe(2);
    holder.lease()?.giveUp();
    await holder.clock.waitingFor(LOOK_MS);
    expect(await row()).toMatchObject({ token: "2", holder: null });
    const next = await compete("next");
    expect(next.lease()?.token).toBe(3);
  });

  test("a recording continues under the next holder within a minute, and restarts after that", async () => {
    const originOf = async (startMs: number, pausedS: number) => {
      await db.pool.query(`UPDATE venue_lease SET beaten_at = clock_timestamp() - interval '${pausedS} seconds'`);
      const node = await compete("holder", { startMs });
      await node.look(0);
      const origin = node.held[0]?.originMs;
      await node.stop();
      return origin;
    };
    const origins = [await originOf(1_000, 0), await originOf(2_000, 0), await originOf(3_000, 50), await originOf(4_000, 61)];
    // The first read created the row, the second took it.
    const first = 1_000 + LOOK_MS;
    expect(origins).toEqual([first, first, first, 4_000]);
    expect(await originOf(5_000, 0)).toBe(4_000);
  });
});
