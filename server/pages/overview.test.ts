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

test.each([
  [false, EMAIL],
  [true, null],
])("the overview of a user whose address is verified (%s) names the address to verify: %s", async (emailVerified, named) => {
  const { id: accountId } = await db.prisma.account.create({ data: { name: `ada ${emailVerified}` } });
  const user = { accountId, email: EMAIL, emailVerified };
  expect((await overview({ db, clock: systemClock, access }, user)).unverified_email).toBe(named);
});
