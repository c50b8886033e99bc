import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { overview } from "./overview";

const EMAIL = "ada@example.test";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const access = { remaining: () => ({ allowed: true, limit: 1, remaining: 1, resetS: 0, retryAfterS: 0 }) };
const unverifiedOf = async (accountId: string) =>
  (await overview({ db, clock: systemClock, access }, accountId)).unverified_email;

test("the overview names an unverified email address, and none for a verified user or an account without a user", async () => {
  const { id } = await db.prisma.account.create({ data: { name: "ada" } });
  expect(await unverifiedOf(id)).toBeNull();
  await db.prisma.user.create({ data: { accountId: id, email: EMAIL } });
  const { id: other } = await db.prisma.account.create({ data: { name: "grace" } });
  expect([await unverifiedOf(id), await unverifiedOf(other)]).toEqual([EMAIL, null]);
  await db.prisma.user.update({ where: { email: EMAIL }, data: { emailVerifiedAt: new Date() } });
  expect(await unverifiedOf(id)).toBeNull();
});
