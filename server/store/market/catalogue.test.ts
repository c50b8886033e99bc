import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { createCatalogue, type ReloadableCatalogue } from "./catalogue";

const CHRISTMAS_MS = Date.UTC(2025, 11, 25, 12);

describe("catalogue", () => {
  let db: TestDatabase;
  let live: ReloadableCatalogue;
  beforeAll(async () => {
    db = await testDatabase();
    live = await createCatalogue(db, "live");
  });
  afterAll(() => db.close());
  const key = (ticker: string) => ({ venue_ticker: { venue: "live", ticker } });

  test("a catalogue lists the seeded listings of its venue by asset class, then ticker", () => {
    expect(live.list()).toEqual(LIVE_LISTINGS);
    expect(live.find("XAUUSD")).toEqual(LIVE_LISTINGS.find(({ ticker }) => ticker === "XAUUSD"));
    expect(live.instrument("EURUSD")).toMatchObject({ ticker: "EURUSD", asset_class: "forex", digits: 5 });
    for (const unknown of ["TESTFX", "__proto__", "constructor", ""]) {
      expect(live.find(unknown)).toBeUndefined();
      expect(live.instrument(unknown)).toBeUndefined();
      expect(live.calendar(unknown)).toBeUndefined();
    }
  });

  test("a catalogue returns the calendar of each ticker, or none", async () => {
    expect(live.calendar("EURUSD")?.sessionAt(CHRISTMAS_MS).state).toBe("closed");
    const sandbox = await createCatalogue(db, "sandbox");
    expect(sandbox.calendar("EURUSD")?.sessionAt(CHRISTMAS_MS).state).toBe("open");
    expect(sandbox.find("TESTUNKNOWN")).toBeDefined();
    expect(sandbox.calendar("TESTUNKNOWN")).toBeUndefined();
  });

  test("a reloaded catalogue shows retired and added listings and overrides", async () => {
    await db.prisma.listing.update({ where: key("EURUSD"), data: { retiredAt: new Date(1) } });
    const override = {
      calendarName: "metals",
      state: "open",
      startsAt: new Date(CHRISTMAS_MS),
      endsAt: new Date(CHRISTMAS_MS + 1000),
    };
    await db.prisma.calendarOverride.create({ data: override });
    expect(live.find("EURUSD")).toBeDefined();
    await live.reload();
    expect(live.find("EURUSD")).toBeUndefined();
    expect(live.instrument("EURUSD")).toBeUndefined();
    expect(live.calendar("XAUUSD")?.sessionAt(CHRISTMAS_MS)).toMatchObject({ state: "open", source: "operator_override" });
    expect(live.calendar("XAUUSD")?.sessionAt(CHRISTMAS_MS + 1000).state).toBe("closed");
  });

  test.each([
    ["an unknown kind", { kind: "lunar" }],
    ["a missing week", { kind: "weekly", zone: "UTC" }],
    [
      "an unknown zone",
      { kind: "weekly", zone: "Mars/Base", week: [], holidays: [], earlyCloses: {}, lateOpens: {}, coveredUntil: "2030-01-01" },
    ],
  ])("a catalogue keeps its contents and names the invalid calendar after an edit with %s", async (_what, definition) => {
    const before = live.list();
    const { definition: sound } = await db.prisma.calendar.findUniqueOrThrow({ where: { name: "metals" } });
    await db.prisma.calendar.update({ where: { name: "metals" }, data: { definition } });
    await expect(live.reload()).rejects.toThrow(/Calendar metals/);
    expect(live.list()).toBe(before);
    expect(live.calendar("XAUUSD")).toBeDefined();
    await db.prisma.calendar.update({ where: { name: "metals" }, data: { definition: sound ?? {} } });
    await live.reload();
  });
});
