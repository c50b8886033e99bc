import { systemClock } from "#lib/clock";
import { eachLimit, PLAN_LIMIT_MAX } from "#lib/contract/limits";
import { SCOPES, type Venue } from "#lib/contract/primitives";
import { createKey } from "#server/store/access/keys";
import type { Database } from "#server/store/database/db";

/** Accounts with a live key: each has a limit of pushed ticks that no plan raises. */
const LIVE_ACCOUNTS_COUNT = 16;

/** All but the one that is not for the market, and excludes the others. */
const MARKET_SCOPES = SCOPES.filter((scope) => scope !== "billing:read");

/** The texts of keys without effective limits. */
export interface BenchKeys {
  /** Of an account each. */
  readonly liveKeys: readonly string[];
  /** The first of them. */
  readonly liveKey: string;
  readonly testKey: string;
}

/** Creates accounts without effective limits, and their keys. */
export async function benchKeys(db: Database): Promise<BenchKeys> {
  const settings = {
    liveAccess: true,
    ...eachLimit(() => PLAN_LIMIT_MAX),
  };
  await db.prisma.plan.upsert({ where: { name: "bench" }, create: { name: "bench", ...settings }, update: settings });
  const create = async (name: string, venue: Venue) => {
    const { id } = await db.prisma.account.upsert({
      where: { name },
      create: { name, planName: "bench" },
      update: { planName: "bench" },
    });
    const key = { accountId: id, name: "bench", venue, scopes: MARKET_SCOPES, origins: [], expiresAt: null };
    return (await createKey({ db, clock: systemClock }, key)).text;
  };
  const liveKeys: string[] = [];
  while (liveKeys.length < LIVE_ACCOUNTS_COUNT) liveKeys.push(await create(`bench ${liveKeys.length + 1}`, "live"));
  return { liveKeys, liveKey: liveKeys[0] ?? "", testKey: await create("bench", "sandbox") };
}
