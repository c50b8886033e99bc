import { createKey } from "#lib/access/keys";
import { systemClock } from "#lib/clock";
import { SCOPES, VENUES } from "#lib/contract/primitives";
import type { Database } from "#lib/db";

/** More than any load generator sends. */
const UNLIMITED = 1_000_000_000;

/** Accounts with a live key: each has a limit of pushed ticks that no plan raises. */
export const LIVE_KEYS_COUNT = 16;

/** Creates accounts without effective limits, each with a live key, the first also with a test key; returns the texts of the keys. */
export async function benchKeys(db: Database): Promise<string[]> {
  const limits = {
    restPerMinute: UNLIMITED,
    restBurst: UNLIMITED,
    streamConnections: UNLIMITED,
    subscriptionsPerConnection: UNLIMITED,
  };
  await db.prisma.plan.upsert({ where: { name: "bench" }, create: { name: "bench", ...limits }, update: limits });
  const texts: string[] = [];
  for (let index = 0; index < LIVE_KEYS_COUNT; index += 1) {
    const name = `bench ${index}`;
    const { id } = await db.prisma.account.upsert({
      where: { name },
      create: { name, planName: "bench" },
      update: { planName: "bench" },
    });
    for (const venue of index === 0 ? VENUES : (["live"] as const)) {
      const settings = { accountId: id, name: "bench", venue, scopes: [...SCOPES], origins: [], expiresAt: null };
      texts.push((await createKey({ db, clock: systemClock }, settings)).text);
    }
  }
  return texts;
}
