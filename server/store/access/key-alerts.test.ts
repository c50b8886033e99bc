import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { KEY_EXPIRY_WARNINGS_S, KEY_REFUSAL_QUIET_S } from "#lib/contract/limits";
import { DAY_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { createMember } from "#server/testing/portal-session";
import { putAccount } from "./accounts";
import { takeExpiringKeys, takeRefusedKeys } from "./key-alerts";
import { createKey, editKey, revokeKey, rotateKey } from "./keys";

const START_MS = Date.UTC(2026, 0, 7, 12);
const [FIRST_MS = 0, LAST_MS = 0] = KEY_EXPIRY_WARNINGS_S.map((aheadS) => aheadS * 1000);
let db: TestDatabase;
let clock: ManualClock;
beforeAll(async () => {
  db = await testDatabase();
});
beforeEach(async () => {
  clock = manualClock(START_MS);
  await db.prisma.apiKey.deleteMany();
});
afterAll(() => db.close());

let accounts = 0;
const inDays = (days: number) => new Date(clock.now() + days * DAY_MS);

/** A key that expires in so many days (null: never), on an account that it has for itself. */
async function expiring(days: number | null, suspended = false): Promise<string> {
  accounts += 1;
  const { id: accountId } = await putAccount({ db, clock }, `account ${accounts}`, { suspended });
  const settings = { accountId, name: "k", venue: "live", scopes: ["market:read"], origins: [] };
  const { record } = await createKey({ db, clock }, { ...settings, expiresAt: days === null ? null : inDays(days) });
  return record.id;
}
const warned = async (maxCount?: number) => (await takeExpiringKeys(db.pool, clock, maxCount)).map(({ id }) => id);

describe("warnings of an expiry", () => {
  test("are due 14 days and 1 day before it, once each", async () => {
    const id = await expiring(30);
    await clock.advance(30 * DAY_MS - FIRST_MS - 1);
    expect(await warned()).toEqual([]);
    await clock.advance(1);
    expect(await warned()).toEqual([id]);
    expect(await warned()).toEqual([]);
    await clock.advance(FIRST_MS - LAST_MS - 1);
    expect(await warned()).toEqual([]);
    await clock.advance(1);
    expect(await warned()).toEqual([id]);
    await clock.advance(LAST_MS - 1);
    expect(await warned()).toEqual([]);
  });

  test("that were missed are made up for by one, and not after the expiry", async () => {
    const [late, expired] = [await expiring(30), await expiring(29.5)];
    await clock.advance(29.6 * DAY_MS);
    expect(await warned()).toEqual([late]);
    expect(await warned()).not.toContain(expired);
  });

  test("are taken once, however many nodes ask at the same time", async () => {
    const ids = [await expiring(20), await expiring(20), await expiring(20)];
    await clock.advance(7 * DAY_MS);
    const taken = await Promise.all([1, 2, 3, 4].map(() => warned()));
    expect(taken.flat().sort()).toEqual(ids.sort());
  });

  test("are not split between nodes: a key that is in use is waited for", async () => {
    const ids = [await expiring(20), await expiring(20)];
    await clock.advance(7 * DAY_MS);
    const holder = await db.pool.connect();
    await holder.query("BEGIN");
    await holder.query("SELECT FROM api_key WHERE id = $1 FOR UPDATE", [ids[1]]);
    const taken = warned();
    try {
      await vi.waitFor(async () => {
        const { rowCount } = await db.pool.query(
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%due%'",
        );
        expect(rowCount).toBe(1);
      });
    } finally {
      await holder.query("COMMIT");
      holder.release();
    }
    expect((await taken).sort()).toEqual(ids.sort());
  });

  test("are not sent when the expiry was set after they were due", async () => {
    const short = await expiring(10);
    const moved = await expiring(300);
    await editKey({ db, clock }, moved, { expiresAt: inDays(10) });
    expect(await warned()).toEqual([]);
    await clock.advance(9 * DAY_MS);
    expect((await warned()).sort()).toEqual([short, moved].sort());
  });

  test("are sent again for an expiry that was moved to a later date", async () => {
    const id = await expiring(20);
    await clock.advance(7 * DAY_MS);
    expect(await warned()).toEqual([id]);
    await editKey({ db, clock }, id, { expiresAt: inDays(30) });
    expect(await warned()).toEqual([]);
    await clock.advance(16 * DAY_MS);
    expect(await warned()).toEqual([id]);
  });

  test("leave out keys that never expire, were rotated or revoked, or whose account is suspended", async () => {
    await expiring(null);
    await revokeKey({ db, clock }, await expiring(20));
    await expiring(20, true);
    const rotated = await expiring(20);
    const { record } = await rotateKey({ db, clock }, rotated, "7d");
    await clock.advance(7 * DAY_MS);
    expect(await warned()).toEqual([record.id]);
  });

  test("beyond the maximum of one run are returned by the next, soonest expiry first", async () => {
    const [second, first, third] = [await expiring(19), await expiring(18), await expiring(20)];
    await clock.advance(7 * DAY_MS);
    expect(await warned(2)).toEqual([first, second]);
    expect(await warned(2)).toEqual([third]);
  });

  test("go to the verified emails of the account's owners and developers", async () => {
    const [verified, unverified, nobody] = [await expiring(20), await expiring(20), await expiring(20)];
    const add = async (id: string, name: string, member: { role?: "developer" | "reader"; emailVerifiedAt?: null } = {}) => {
      const { accountId } = await db.prisma.apiKey.findUniqueOrThrow({ where: { id } });
      await createMember(db, accountId, { email: `${name}@example.com`, ...member });
    };
    await add(verified, "ann");
    await add(verified, "bob");
    await add(verified, "cy", { role: "developer" });
    await add(verified, "eve", { role: "reader" });
    await add(unverified, "dan", { emailVerifiedAt: null });
    await clock.advance(7 * DAY_MS);
    const recipients = new Map((await takeExpiringKeys(db.pool, clock)).map(({ id, emails }) => [id, emails]));
    const told = ["ann@example.com", "bob@example.com", "cy@example.com"];
    expect(Object.fromEntries(recipients)).toEqual({ [verified]: told, [unverified]: [], [nobody]: [] });
  });
});

describe("alerts of refused keys", () => {
  /** Notes a use of the key now, as access does. */
  const use = (id: string) =>
    db.pool.query("UPDATE api_key SET refused_at = $2, refused_address = '203.0.113.0/24' WHERE id = $1", [
      id,
      new Date(clock.now()),
    ]);
  const taken = async (maxCount?: number) =>
    (await takeRefusedKeys(db.pool, clock, maxCount)).map(({ id, state }) => [id, state]);

  test("are sent for the first use, and again once the key was not used for 7 days", async () => {
    const id = await expiring(null);
    await revokeKey({ db, clock }, id);
    expect(await taken()).toEqual([]);
    await use(id);
    expect(await taken()).toEqual([[id, "revoked"]]);
    expect(await taken()).toEqual([]);
    for (let day = 0; day < 20; day += 1) {
      await clock.advance(DAY_MS);
      await use(id);
      expect(await taken()).toEqual([]);
    }
    await clock.advance(KEY_REFUSAL_QUIET_S * 1000 - 1);
    await use(id);
    expect(await taken()).toEqual([]);
    await clock.advance(KEY_REFUSAL_QUIET_S * 1000);
    await use(id);
    expect(await taken()).toEqual([[id, "revoked"]]);
  });

  test("are taken once, however many nodes ask at the same time, and beyond the maximum of one run by the next", async () => {
    const ids = [await expiring(1), await expiring(1), await expiring(1)];
    await clock.advance(2 * DAY_MS);
    for (const id of ids) await use(id);
    const first = await taken(2);
    expect(first).toHaveLength(2);
    const rest = await Promise.all([1, 2, 3, 4].map(() => taken()));
    expect([...first, ...rest.flat()].sort()).toEqual(ids.map((id) => [id, "expired"]).sort());
  });

  test("wait while the account is suspended", async () => {
    const id = await expiring(1, true);
    await clock.advance(2 * DAY_MS);
    await use(id);
    expect(await taken()).toEqual([]);
    await db.pool.query("UPDATE account SET suspended_at = NULL");
    expect(await taken()).toEqual([[id, "expired"]]);
  });
});
