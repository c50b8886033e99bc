import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { putAccount } from "#lib/access/accounts";
import { createKey } from "#lib/access/keys";
import { type ManualClock, manualClock } from "#lib/clock";
import type { MailMessage } from "#lib/mail/messages";
import type { Repeating } from "#lib/repeat";
import { collectingLog } from "#lib/testing/collecting-log";
import { DAY_MS } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { startExpiryWarnings } from "./expiry-warnings";

let db: TestDatabase;
let clock: ManualClock;
let logged: Record<string, unknown>[];
let mails: MailMessage[];
/** How often the nodes have looked for keys. */
let looked: number;
/** How many of them are looking now. */
let looking = 0;
const running: Repeating[] = [];

beforeEach(async () => {
  db = await testDatabase();
  clock = manualClock(Date.UTC(2039, 11, 1));
  logged = [];
  mails = [];
  looked = 0;
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  await db.close();
});

/** Starts a node; resolves when it has looked once. */
async function start(): Promise<void> {
  const send = (message: MailMessage) => mails.push(message);
  const query = async (...query: Parameters<typeof db.pool.query>) => {
    looking += 1;
    try {
      return await db.pool.query(...query);
    } finally {
      looking -= 1;
      looked += 1;
    }
  };
  const counted = { db: { pool: { query } as unknown as typeof db.pool }, clock, log: collectingLog(logged, "info") };
  const before = looked;
  running.push(startExpiryWarnings({ ...counted, send, portal: "https://portal.example.com" }));
  await vi.waitFor(() => expect(looked).toBe(before + 1), 5_000);
}

/** Lets an hour or more pass at once; resolves when every node has looked at its end. */
async function pass(ms: number): Promise<void> {
  const before = looked;
  clock.set(clock.now() + ms);
  await clock.advance(0);
  await vi.waitFor(() => expect(looking === 0 && looked >= before + running.length).toBe(true), 5_000);
}

async function makeKeys(account: string, names: readonly string[], days: number, email?: string): Promise<void> {
  const { id: accountId } = await putAccount({ db, clock }, account);
  const settings = { accountId, venue: "live", scopes: ["market:read"], origins: [] };
  const expiresAt = new Date(clock.now() + days * DAY_MS);
  for (const name of names) await createKey({ db, clock }, { ...settings, name, expiresAt });
  if (email !== undefined) await db.prisma.user.create({ data: { accountId, email, emailVerifiedAt: new Date(0) } });
}

test("an owner gets one email about all keys that expire soon, from one of several nodes, 14 days and 1 day before", async () => {
  await makeKeys("ada", ["first", "second"], 20, "ada@example.com");
  for (const _node of [1, 2, 3]) await start();
  await pass(6 * DAY_MS);
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ to: "ada@example.com", subject: "2 of your API keys expire soon" });
  expect(mails[0]?.text).toMatch(/ {2}first \(sw_live_\w{4}….{4}\): 2039-12-21T00:00:00.000Z\n {2}second /);
  expect(mails[0]?.text).toContain("https://portal.example.com/dashboard/keys");
  await pass(13 * DAY_MS);
  expect(mails).toHaveLength(2);
  await pass(DAY_MS);
  expect(mails).toHaveLength(2);
});

test("a key of an account that nobody signs in to is named in the log", async () => {
  await makeKeys("operator", ["feeder"], 15);
  await start();
  await pass(DAY_MS);
  expect(logged).toMatchObject([{ level: 40, account: "operator", msg: "a key expires soon" }]);
  expect(mails).toEqual([]);
});
