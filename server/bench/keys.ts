import { createKey } from "#lib/access/keys";
import { systemClock } from "#lib/clock";
import { SCOPES, VENUES } from "#lib/contract/primitives";
import type { Database } from "#lib/db";

/** More than any load generator sends. */
const UNLIMITED = 1_000_000_000;

/** Creates an account without effective limits, with a key of each venue; returns the texts of the keys. */
export async function benchKeys(db: Database): Promise<string[]> {
  const limits = {
    restPerMinute: UNLIMITED,
    restBurst: UNLIMITED,
    streamConnections: UNLIMITED,
    subscriptionsPerConnection: UNLIMITED,
  };
  await db.prisma.plan.upsert({ where: { name: "bench" }, create: { name: "bench", ...limits }, update: limits });
  const { id } = await db.prisma.account.upsert({
    where: { name: "bench" },
    create: { name: "bench", planName: "bench" },
    update: { planName: "bench" },
  });
  const texts: string[] = [];
  for (const venue of VENUES) {
    const settings = { accountId: id, name: "bench", venue, scopes: [...SCOPES], origins: [], expiresAt: null };
    texts.push((await createKey({ db, clock: systemClock }, settings)).text);
  }
  return texts;
}
