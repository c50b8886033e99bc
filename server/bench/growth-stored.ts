import { randomInt } from "node:crypto";
import { hashKey, keyLast4, keyPrefix, mintKey } from "#lib/access/key-format";
import { overview } from "#lib/access/usage/overview";
import { listAccounts, reportAccount } from "#lib/access/users/account-admin";
import { systemClock } from "#lib/clock";
import { operations } from "#lib/contract/operations";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { createKlineStore } from "#lib/market/kline-store";
import { MINUTE_S } from "#lib/units";
import { growthRows, type Sized } from "./growth-rows";
import { storeMinutes, withDatabase } from "./history";
import { type Effort, load } from "./load";
import { startSpotwire } from "./product";
import { spreadOf } from "./spread";
import type { Row } from "./table";

const KEYS_COUNTS = [10, 1_000, 100_000];
const KLINES_COUNTS = [1_000_000, 10_000_000, 50_000_000];
/** A page lists a hundred. */
const ACCOUNTS_COUNTS = [100, 1_000, 100_000];
/** Rows of a window, and windows read for one measurement. */
const WINDOW_ROWS_COUNT = 1_000;
const READS_COUNT = 200;
const PAGES_COUNT = 50;
const STEP_COUNT = 20_000;
const QUOTES = `${operations.latestQuotes.path}?tickers=EURUSD,XAUUSD`;

const ADD_KEYS = `
  INSERT INTO api_key (id, account_id, name, venue, scopes, origins, hash, prefix, last4, created_at)
  SELECT gen_random_uuid(), (SELECT id FROM account WHERE name = 'bench'), 'key', 'sandbox', '{market:read}', '{}', key.hash, key.prefix, key.last4, now()
    FROM unnest($1::bytea[], $2::text[], $3::text[]) AS key (hash, prefix, last4)`;

/** What a rate limit leaves is known in memory, and costs the same for every account. */
const remaining = () => ({ allowed: true, limit: 1, remaining: 1, resetS: 60, retryAfterS: 0 });

/** Accounts with an owner each. */
const ADD_ACCOUNTS = `
  WITH added AS (
    INSERT INTO account (id, name, plan, created_at)
    SELECT gen_random_uuid(), 'account ' || n, 'free', now() FROM generate_series($1::int, $2::int) AS n
    RETURNING id, name
  )
  INSERT INTO portal_user (id, account_id, email, email_verified_at, created_at)
  SELECT gen_random_uuid(), id, replace(name, ' ', '') || '@example.com', now(), now() FROM added`;

/** A call with any of so many keys: processor time of the market process. */
export async function benchGrowthOfKeys({ seconds, rounds }: Effort): Promise<Row[]> {
  const texts: string[] = [];
  const costs: Sized[] = [];
  const spotwire = await startSpotwire();
  try {
    for (const size of KEYS_COUNTS) {
      await spotwire.withDatabase(async ({ pool }) => {
        const added = Array.from({ length: size - texts.length }, () => mintKey("sandbox"));
        texts.push(...added);
        await pool.query(ADD_KEYS, [added.map(hashKey), added.map(keyPrefix), added.map(keyLast4)]);
        await pool.query("ANALYZE api_key");
      });
      const vary = () => ({ authorization: `Bearer ${texts[randomInt(texts.length)]}` });
      const target = { server: spotwire, path: QUOTES, headers: {}, status: 200, vary };
      await load(target, seconds);
      const micros: number[] = [];
      for (let round = 0; round < rounds; round += 1) micros.push(1e6 / (await load(target, seconds)).perCpuSecond);
      costs.push({ size, cost: spreadOf(micros) });
    }
  } finally {
    await spotwire.stop();
  }
  return growthRows("latest quotes with any key", "keys", "µs of CPU", costs);
}

/** The whole numbers from `from` to `to` in pieces that a query adds before it times out. */
function* steps(from: number, to: number): Generator<readonly [from: number, to: number]> {
  for (let start = from; start <= to; start += STEP_COUNT) yield [start, Math.min(to, start + STEP_COUNT - 1)];
}

/** Runs the work with a database of its own. */
/** Milliseconds of each round, which does the work `count` times. */
async function timed(rounds: number, count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    for (let done = 0; done < count; done += 1) await work();
    times.push((performance.now() - start) / count);
  }
  return times;
}

/** A window of klines that nobody asked for before: time of its read. */
export function benchGrowthOfKlines({ rounds }: Effort): Promise<Row[]> {
  return withDatabase(async (db) => {
    const store = createKlineStore(db);
    const last = Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S;
    const costs: Sized[] = [];
    let stored = 0;
    for (const size of KLINES_COUNTS) {
      const each = Math.ceil(size / LIVE_LISTINGS.length);
      const [from, to] = [last - each * MINUTE_S, last - (stored + 1) * MINUTE_S];
      for (const { ticker } of LIVE_LISTINGS) await storeMinutes(db, ticker, from, to);
      stored = each;
      const times = await timed(rounds, READS_COUNT, async () => {
        const { ticker = "" } = LIVE_LISTINGS[randomInt(LIVE_LISTINGS.length)] ?? {};
        const start = last - (WINDOW_ROWS_COUNT + randomInt(each - WINDOW_ROWS_COUNT)) * MINUTE_S;
        const window = {
          from: start,
          to: start + WINDOW_ROWS_COUNT * MINUTE_S,
          limit: WINDOW_ROWS_COUNT,
          end: "oldest",
        } as const;
        const rows = await store.read({ ticker, timeframe: "M1", ...window });
        if (rows.length !== WINDOW_ROWS_COUNT) throw new Error(`${rows.length} klines instead of ${WINDOW_ROWS_COUNT}`);
      });
      costs.push({ size, cost: spreadOf(times) });
    }
    return growthRows(`${WINDOW_ROWS_COUNT.toLocaleString("en-US")} klines of any time, read cold`, "stored", "ms", costs);
  });
}

/** The pages that an operator and a user open, with so many accounts that have an owner each: time of what they read. */
export function benchGrowthOfAccounts({ rounds }: Effort): Promise<Row[]> {
  return withDatabase(async (db) => {
    const context = { db, clock: systemClock };
    const costs = new Map<string, Sized[]>();
    let stored = 0;
    for (const size of ACCOUNTS_COUNTS) {
      for (const [from, to] of steps(stored + 1, size)) await db.pool.query(ADD_ACCOUNTS, [from, to]);
      await db.pool.query("VACUUM ANALYZE account, portal_user");
      stored = size;
      const { id } = await db.prisma.account.findUniqueOrThrow({ where: { name: `account ${size}` } });
      const pages: Record<string, () => Promise<unknown>> = {
        "the newest accounts": () => listAccounts(context, {}),
        "accounts that hold a text": () => listAccounts(context, { q: "account 7" }),
        "one account's report": () => reportAccount(context, id),
        "a user's overview": () => overview({ db, clock: systemClock, access: { remaining } }, id),
      };
      for (const [what, read] of Object.entries(pages))
        costs.set(what, [...(costs.get(what) ?? []), { size, cost: spreadOf(await timed(rounds, PAGES_COUNT, read)) }]);
    }
    return [...costs].flatMap(([what, sizes]) => growthRows(what, "accounts", "ms", sizes));
  });
}
