import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ASSET_CLASSES, Instrument } from "#lib/contract/instrument";
import { OPEN_GRACE_DEFAULT_S, STALE_AFTER_DEFAULT_S } from "#lib/contract/limits";
import { STREAMS, TIMEFRAMES } from "#lib/contract/primitives";
import { compileCalendar } from "./calendar";
import { SEED_CALENDARS } from "./calendars/index";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "./catalogue";
import { type Listing, toInstrument } from "./instrument";
import { marketStatus } from "./status";

const SYMBOLS = path.resolve(process.cwd(), "../shared/data/symbols/symbols_combined.csv");
const NOW = Date.parse("2026-11-21T12:00:00Z");
/** End of the prices of tickers that have gone quiet. */
const QUIET_SINCE = Date.parse("2026-01-01T00:00:00Z");

function find(ticker: string): Listing {
  const listing = SANDBOX_LISTINGS.find((other) => other.ticker === ticker);
  if (listing === undefined) throw new Error(`${ticker} is not listed`);
  return listing;
}

function statusOf(ticker: string, lastTickMs: number | null, atMs = NOW) {
  const listing = find(ticker);
  const definition = listing.calendar === null ? undefined : SEED_CALENDARS[listing.calendar];
  const session = compileCalendar(definition, []).sessionAt(atMs);
  const { final_display_state, reason } = marketStatus({
    listing,
    session,
    lastTickMs,
    atMs,
    provider: "sandbox",
    offered: true,
    projected: false,
    updatedAtMs: atMs,
  });
  return `${final_display_state} ${reason}`;
}

describe("both catalogues", () => {
  test.each([
    ["live", LIVE_LISTINGS],
    ["sandbox", SANDBOX_LISTINGS],
  ])("the %s catalogue is valid: sorted by asset class, then ticker, each ticker once, every calendar seeded", (_, listings) => {
    const order = (listing: Listing) => `${ASSET_CLASSES.indexOf(listing.assetClass)} ${listing.ticker}`;
    expect(listings.map(order)).toEqual([...new Set(listings.map(order))].sort());
    for (const listing of listings) {
      const shown = toInstrument(listing);
      expect(Instrument.parse(shown)).toEqual(shown);
      expect([shown.streams, shown.timeframes]).toEqual([listing.streams, listing.timeframes]);
      expect([listing.streams, listing.timeframes, listing.staleAfterS]).toEqual([STREAMS, TIMEFRAMES, STALE_AFTER_DEFAULT_S]);
      if (listing.ticker !== "TESTNOTREADY") expect(listing.openGraceS).toBe(OPEN_GRACE_DEFAULT_S);
      if (listing.calendar !== null) expect(SEED_CALENDARS).toHaveProperty(listing.calendar);
    }
  });

  test("live holds the 28 major crosses, 20 further pairs and six metals", () => {
    const majors = ["AUD", "CAD", "CHF", "EUR", "GBP", "JPY", "NZD", "USD"];
    const crosses = LIVE_LISTINGS.filter(({ base, quote }) => majors.includes(base) && majors.includes(quote));
    expect(new Set(crosses.map(({ base, quote }) => [base, quote].sort().join())).size).toBe(28);
    expect(LIVE_LISTINGS.filter(({ assetClass }) => assetClass === "forex")).toHaveLength(48);
    const metals = LIVE_LISTINGS.filter(({ assetClass }) => assetClass === "metals").map(({ ticker }) => ticker);
    expect(metals).toEqual(["XAGEUR", "XAGUSD", "XAUEUR", "XAUUSD", "XPDUSD", "XPTUSD"]);
  });

  test("live follows the real calendars; sandbox lists the same instruments, always open", () => {
    for (const { ticker, assetClass, calendar, digits, pipSize } of LIVE_LISTINGS) {
      expect(calendar).toBe(assetClass);
      expect(find(ticker)).toMatchObject({ calendar: "always", assetClass, digits, pipSize });
    }
    expect(SANDBOX_LISTINGS.filter(({ assetClass }) => assetClass !== "test")).toHaveLength(LIVE_LISTINGS.length);
  });

  test.each([
    ["EURUSD", 5, 0.0001],
    ["USDJPY", 3, 0.01],
    ["EURCZK", 4, 0.001],
    ["XAUUSD", 3, 0.01],
  ])("%s has %i digits and a pip of %d", (ticker, digits, pipSize) => {
    expect(find(ticker)).toMatchObject({ digits, pipSize });
  });
});

describe("each test ticker is in the state its name stands for", () => {
  const fresh = NOW - 500;
  const quiet = QUIET_SINCE - 1;

  test.each([
    ["TESTCLOSED", quiet, "closed weekend"],
    ["TESTUNKNOWN", fresh, "unknown calendar_missing"],
    ["TESTSTALE", quiet, "open_data_stale quote_older_than_threshold"],
    ["TESTLATE", quiet, "late_open_data_stale no_quote_since_open"],
    ["TESTMISSING", null, "open_data_missing no_quote_since_open"],
    ["TESTNOTREADY", null, "open awaiting_first_quote"],
    ["TESTGAP", fresh, "open null"],
    ["TESTFX", quiet, "closed weekend"],
    ["TESTMETAL", quiet, "closed weekend"],
  ])("the test ticker %s with its last tick at %s is in the state %s", (ticker, lastTickMs, expected) => {
    expect(statusOf(ticker, lastTickMs)).toBe(expected);
  });

  test("TESTFLIP opens at every fourth minute and closes two minutes later", () => {
    const turn = Math.ceil(NOW / 240_000) * 240_000;
    expect(statusOf("TESTFLIP", turn - 120_001, turn - 1)).toBe("closed daily_break");
    expect(statusOf("TESTFLIP", turn, turn)).toBe("open null");
    expect(statusOf("TESTFLIP", turn + 119_999, turn + 119_999)).toBe("open null");
    expect(statusOf("TESTFLIP", turn + 119_999, turn + 120_000)).toBe("closed daily_break");
  });

  test("TESTFX and TESTMETAL follow the real markets", () => {
    const friday = Date.parse("2026-11-20T18:00:00Z");
    expect(statusOf("TESTFX", friday, friday)).toBe("open null");
    expect(statusOf("TESTMETAL", Date.parse("2026-11-19T21:59:59Z"), Date.parse("2026-11-19T22:30:00Z"))).toBe(
      "closed daily_break",
    );
  });
});

describe.skipIf(!existsSync(SYMBOLS))("digits and pips are facts (skipped where ../shared/data is absent)", () => {
  const [, ...lines] = existsSync(SYMBOLS) ? readFileSync(SYMBOLS, "utf8").trim().split("\n") : [];
  const rows = new Map(lines.map((line) => [line.split(",")[0], line.split(",")]));

  test.each(LIVE_LISTINGS.map((listing) => [listing.ticker, listing] as const))(
    "%s has the digits and pip of an external list",
    (ticker, listing) => {
      const [, base, quote, , pip = "", dukascopy = "", oanda = ""] = rows.get(ticker) ?? [];
      expect([listing.base, listing.quote]).toEqual([base, quote]);
      if (pip !== "") expect(listing.pipSize).toBe(Number(pip));
      expect(listing.digits).toBe(Number(dukascopy === "" ? oanda : dukascopy));
    },
  );
});
