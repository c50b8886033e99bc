import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { seed } from "./seed";

describe("seed", () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.close());

  test("seed inserts all plans, all listings, and the demo account with its plan", async () => {
    expect(await db.prisma.plan.count()).toBe(4);
    expect(await db.prisma.listing.count({ where: { venue: "live" } })).toBe(LIVE_LISTINGS.length);
    expect(await db.prisma.listing.count({ where: { venue: "sandbox" } })).toBe(SANDBOX_LISTINGS.length);
    const demo = await db.prisma.account.findUniqueOrThrow({ where: { name: "demo" } });
    expect([demo.planName, demo.permissions]).toEqual(["demo", { kind: "all" }]);
  });

  test("a repeated seed keeps operators' edits and adds no duplicates", async () => {
    const listings = await db.prisma.listing.count();
    await db.prisma.plan.update({ where: { name: "free" }, data: { restPerMinute: 7 } });
    await db.prisma.calendar.update({ where: { name: "metals" }, data: { definition: { kind: "never" } } });
    await db.prisma.listing.update({
      where: { venue_ticker: { venue: "live", ticker: "EURUSD" } },
      data: { retiredAt: new Date(0), staleAfterS: 5 },
    });
    await seed(db);
    expect(await db.prisma.listing.count()).toBe(listings);
    expect((await db.prisma.plan.findUniqueOrThrow({ where: { name: "free" } })).restPerMinute).toBe(7);
    expect((await db.prisma.calendar.findUniqueOrThrow({ where: { name: "metals" } })).definition).toEqual({ kind: "never" });
    const eurusd = await db.prisma.listing.findUniqueOrThrow({ where: { venue_ticker: { venue: "live", ticker: "EURUSD" } } });
    expect([eurusd.staleAfterS, eurusd.retiredAt]).toEqual([5, new Date(0)]);
  });
});
