import { describe, expect, test } from "vitest";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import { createSandboxPrices } from "./prices";

const DAY_MINUTES = 1_440;
const YEAR_2026_MS = Date.UTC(2026, 0, 1);

const catalogue = createSandboxCatalogue();
const prices = createSandboxPrices({ catalogue, seed: 1 });
const series = (ticker: string) => prices.series(ticker) ?? expect.fail(`${ticker} has no series`);
const ticksAt = (ticker: string, atMs: number) => series(ticker).ticks(Math.floor(atMs / MINUTE_MS)).length;

describe.each(["TESTCLOSED", "TESTSTALE", "TESTLATE"])("%s", (ticker) => {
  test(`${ticker} has quotes until just before 2026 and none since`, () => {
    expect(ticksAt(ticker, YEAR_2026_MS - 1)).toBeGreaterThan(0);
    expect(ticksAt(ticker, YEAR_2026_MS)).toBe(0);
    const last = series(ticker).lastTick(Date.UTC(2030, 5, 1));
    expect(last?.time_msc).toBeLessThan(YEAR_2026_MS);
    expect(last?.time_msc).toBeGreaterThan(YEAR_2026_MS - MINUTE_MS);
  });
});

describe.each(["TESTMISSING", "TESTNOTREADY"])("%s", (ticker) => {
  test(`${ticker} never had a quote`, () => {
    for (const year of [2020, 2025, 2026, 2030]) expect(ticksAt(ticker, Date.UTC(year, 6, 3, 12))).toBe(0);
    expect(series(ticker).lastTick(Date.UTC(2030, 0, 1))).toBeUndefined();
  });
});

describe("TESTUNKNOWN", () => {
  test("TESTUNKNOWN is quoted at any hour, weekends included", () => {
    for (let hour = 0; hour < 168; hour++) expect(ticksAt("TESTUNKNOWN", Date.UTC(2026, 7, 1, hour))).toBeGreaterThan(0);
  });
});

describe("TESTFLIP", () => {
  test("TESTFLIP is quoted for two minutes, then not for two, exactly as its calendar opens", () => {
    const start = Date.UTC(2026, 3, 4, 5);
    const quoted = Array.from({ length: 12 }, (_, minute) => ticksAt("TESTFLIP", start + minute * MINUTE_MS) > 0);
    expect(quoted).toEqual([true, true, false, false, true, true, false, false, true, true, false, false]);
  });
});

describe.each(["TESTFX", "TESTMETAL"])("%s", (ticker) => {
  test.each([
    ["an ordinary week", Date.UTC(2026, 4, 2)],
    ["the week in which New York springs forward", Date.UTC(2026, 2, 7)],
    ["the week in which New York falls back", Date.UTC(2025, 10, 1)],
    ["Christmas", Date.UTC(2025, 11, 22)],
  ])("a test ticker of a real market is quoted exactly while its calendar is open: %s", (_, startMs) => {
    const calendar = catalogue.calendar(ticker);
    for (let minute = 0; minute < 7 * DAY_MINUTES; minute++) {
      const atMs = startMs + minute * MINUTE_MS;
      const day = Math.floor(atMs / MINUTE_MS / DAY_MINUTES);
      const quoted = (series(ticker).minutes(day)?.count[minute % DAY_MINUTES] ?? 0) > 0;
      if (quoted !== (calendar?.sessionAt(atMs).state === "open"))
        expect.fail(`${new Date(atMs).toISOString()}: quoted ${quoted}`);
    }
  });

  test("a test ticker of a real market keeps its last quote over the weekend", () => {
    const sunday = Date.UTC(2026, 4, 3, 12);
    const last = series(ticker).lastTick(sunday)?.time_msc ?? 0;
    const closedAt = catalogue.calendar(ticker)?.sessionAt(sunday).closedAt ?? 0;
    expect(last).toBeLessThan(closedAt);
    expect(last).toBeGreaterThan(closedAt - MINUTE_MS);
  });

  test("a test ticker is not quoted after the last date its calendar knows", () => {
    expect(catalogue.calendar(ticker)?.sessionAt(Date.UTC(2199, 5, 4, 12)).state).toBe("unknown");
    expect(ticksAt(ticker, Date.UTC(2199, 5, 4, 12))).toBe(0);
  });
});

describe("an operator's override", () => {
  test("an operator's override stops the quotes of TESTFX at once, and lifting it brings them back", () => {
    const edited = createSandboxCatalogue();
    const own = createSandboxPrices({ catalogue: edited, seed: 1 });
    const minute = Date.UTC(2026, 4, 6, 12) / MINUTE_MS;
    const count = () => own.series("TESTFX")?.ticks(minute).length;
    const before = count();
    expect(before).toBeGreaterThan(0);
    edited.override("forex", [{ state: "closed", fromMs: minute * MINUTE_MS, untilMs: null }]);
    expect(count()).toBe(0);
    edited.override("forex", []);
    expect(count()).toBe(before);
  });
});

describe("TESTGAP", () => {
  test("TESTGAP lacks a few minutes, some short gaps and one full hour each day, always the same ones", () => {
    const again = createSandboxPrices({ catalogue, seed: 1 });
    let missing = 0;
    let holes = 0;
    for (let day = 20_000; day < 20_050; day++) {
      const counts = series("TESTGAP").minutes(day)?.count ?? expect.fail("no prices");
      expect(again.series("TESTGAP")?.minutes(day)?.count).toEqual(counts);
      missing += counts.filter((count) => count === 0).length;
      for (let five = 0; five < DAY_MINUTES; five += 5)
        if (counts.subarray(five, five + 5).every((count) => count === 0)) holes++;
      const hours = Array.from({ length: 24 }, (_, hour) => counts.subarray(60 * hour, 60 * hour + 60));
      expect(hours.filter((hour) => hour.every((count) => count === 0))).toHaveLength(1);
    }
    expect(missing / 50 / DAY_MINUTES).toBeGreaterThan(0.06);
    expect(missing / 50 / DAY_MINUTES).toBeLessThan(0.13);
    expect(holes / 50).toBeGreaterThan(13);
  });
});
