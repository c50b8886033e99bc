import { encode } from "next-auth/jwt";
import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { sessionCookieName } from "#lib/portal/cookies";
import { DAY_MS } from "#lib/units";
import { acquireSecrets } from "#server/database/secrets";
import { localAddress } from "#server/ops/start-message";
import { startService } from "#server/service";
import { seedUsage } from "./usage-seed";

/** Starts the service with a signed-in owner of 100 keys, one million usage rows and 100,000 logged requests, among others. */

const SEED = {
  keys: 100,
  combinations: 174,
  buckets: { minute: 2_880, hour: 2_160, day: 730 },
  requests: 100_000,
  audited: 5_000,
};

const env = readEnv();
const service = await startService({ env, log: createLog(env.LOG_LEVEL), clock: systemClock });
const { db } = service;
const nowMs = systemClock.now();
const [busy, other] = await Promise.all(["busy", "other"].map((name) => db.prisma.account.create({ data: { name } })));
if (busy === undefined || other === undefined) throw new Error("no account was created");
await seedUsage(db.pool, { ...SEED, accountId: busy.id, nowMs });
await seedUsage(db.pool, { ...SEED, accountId: other.id, nowMs, combinations: 20 });
const user = await db.prisma.user.create({ data: { accountId: busy.id, email: "busy@example.com" } });
const { id: sid } = await db.prisma.portalSession.create({ data: { userId: user.id, expiresAt: new Date(nowMs + DAY_MS) } });
const token = await encode({ token: { sub: user.id, sid }, secret: (await acquireSecrets(env)).nextAuth });
process.stdout.write(
  `account ${busy.id}\ncookie ${sessionCookieName(env)}=${token}\nlistening on ${localAddress(service.address)}\n`,
);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
