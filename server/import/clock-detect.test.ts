import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { zone } from "#lib/domain/zone";
import { HOUR_MS } from "#lib/units";
import { readFile } from "#server/testing/import-rows";
import { type ClockRule, detectClock, doubtClock } from "./clock-detect";
import { createEvidenceCollector } from "./clock-evidence";
import { type KnownClock, knownClock, parseClock } from "./clock-zone";
import { HISTDATA_CLOCK, METATRADER_CLOCK } from "./format";

const DATA = path.resolve(process.cwd(), "../shared/data");
const HOUR = HOUR_MS;
const DAY = 24 * HOUR;
const FOREX = 17 * HOUR;
const METALS = 18 * HOUR;
const metaTrader = (METATRADER_CLOCK as { detect: ClockRule }).detect;
const histData = (HISTDATA_CLOCK as { detect: ClockRule }).detect;
const newYork = zone("America/New_York");

/** The local time that a clock shows at an instant. */
function shownBy(clock: { toUtcMs(ms: number): number }, utcMs: number): number {
  for (let ahead = -6 * HOUR; ahead <= 15 * HOUR; ahead += HOUR / 4)
    if (clock.toUtcMs(utcMs + ahead) === utcMs) return utcMs + ahead;
  throw new Error("no such time on this clock");
}

/** A year of quotes every half hour while the market is open, on the clock of `shown`; some hours may be omitted. */
function year(of: number, shown: (utcMs: number) => number, sundayOpen = FOREX, isHeld = (_localMs: number) => false) {
  const collector = createEvidenceCollector(0);
  for (let ms = Date.UTC(of, 0, 6); ms < Date.UTC(of, 11, 20); ms += HOUR / 2) {
    const wall = newYork.toLocal(ms);
    const [day, time] = [new Date(wall).getUTCDay(), wall % DAY];
    if (day === 6 || (day === 5 && time >= FOREX) || (day === 0 && time < sundayOpen)) continue;
    const local = shown(ms);
    if (!isHeld(local)) collector.row(local, 1);
  }
  return collector.evidence();
}

const CLOCKS: KnownClock[] = ["UTC", "-05:00", "EST+EU", "America/New_York", "EET", "NY+7", "CET", "Europe/London", "+03:00"];

test.each(CLOCKS)("a year of weekends identifies the clock %s, for currencies and metals", (name) => {
  const clock = knownClock(name);
  for (const open of [FOREX, METALS]) {
    const found = detectClock(
      year(2021, (ms) => shownBy(clock, ms), open),
      metaTrader,
      open,
    );
    expect(found).toMatchObject({ assumed: false, clock: { name } });
  }
});

test("HistData files on fixed EST and HistData files that change on European dates are distinguished", () => {
  for (const name of ["-05:00", "EST+EU"] as const)
    expect(
      detectClock(
        year(2021, (ms) => shownBy(knownClock(name), ms)),
        histData,
        FOREX,
      ).clock.name,
    ).toBe(name);
});

test("an EET server that opens at its own midnight, an hour late while US and EU clocks disagree, is detected as EET, not NY+7", () => {
  const eet = knownClock("EET");
  const evidence = year(
    2022,
    (ms) => shownBy(eet, ms),
    FOREX,
    (local) => new Date(local).getUTCDay() === 0,
  );
  const found = detectClock(evidence, metaTrader, FOREX);
  expect(found.clock.name).toBe("EET");
  expect(found.because).toContain("of them to the minute");
});

test("a change of the server's clock from CET to EET is detected, and the error names both clocks in the syntax of --tz", () => {
  const [cet, eet] = [knownClock("CET"), knownClock("EET")];
  const evidence = year(2014, (ms) => shownBy(ms < Date.UTC(2014, 6, 6) ? cet : eet, ms));
  expect(() => detectClock(evidence, metaTrader, FOREX)).toThrow(/CET.*fits until 2014-07-05.*--tz "CET\.\.2014-07-05,EET"/);
});

test("without a weekend the quietest hour identifies the clock, and a clock is assumed only where the format documents one", () => {
  const quiet = createEvidenceCollector(0);
  for (let ms = Date.UTC(2022, 9, 10); ms < Date.UTC(2022, 9, 12, 5); ms += HOUR / 4)
    quiet.row(ms, new Date(ms).getUTCHours() === 0 ? 1 : 20);
  expect(detectClock(quiet.evidence(), metaTrader, FOREX)).toMatchObject({ assumed: false, clock: { name: "EET" } });
  const short = createEvidenceCollector(0);
  short.row(Date.UTC(2022, 9, 10), 1);
  expect(detectClock(short.evidence(), histData, FOREX)).toMatchObject({ assumed: true, clock: { name: "-05:00" } });
  expect(() => detectClock(short.evidence(), metaTrader, FOREX)).toThrow("--tz EET");
});

test("times labelled UTC that are New York + 7 h raise a warning, and real UTC does not", () => {
  const utc = knownClock("UTC");
  expect(
    doubtClock(
      year(2022, (ms) => shownBy(knownClock("NY+7"), ms)),
      utc,
      FOREX,
    ),
  ).toContain("NY+7 would fit better");
  expect(
    doubtClock(
      year(2022, (ms) => ms),
      utc,
      FOREX,
    ),
  ).toBeNull();
});

test.each([
  ["-05:00", "2022-07-01T05:00:00Z"],
  ["EST", "2022-07-01T05:00:00Z"],
  ["UTC+3", "2022-06-30T21:00:00Z"],
  ["+0530", "2022-06-30T18:30:00Z"],
  ["America/New_York", "2022-07-01T04:00:00Z"],
  ["EST+EU", "2022-07-01T04:00:00Z"],
  ["eet", "2022-06-30T21:00:00Z"],
  ["ny+7", "2022-06-30T21:00:00Z"],
  ["CET..2014-03-30,EET", "2022-06-30T21:00:00Z"],
  ["CET..2024-03-30,EET", "2022-06-30T22:00:00Z"],
])("--tz %s is accepted", (text, utc) => {
  expect(new Date(parseClock(text).toUtcMs(Date.UTC(2022, 6, 1))).toISOString()).toBe(utc.replace("Z", ".000Z"));
});

test.each(["", "Mars/Olympus", "+25:00", "CET,EET", "CET..2014-03-30", "CET..2014-99-30,EET"])("--tz %j is rejected", (text) => {
  expect(() => parseClock(text)).toThrow("--tz");
});

const FILES: [name: string, clock: KnownClock, rule: ClockRule, open: number][] = [
  ["nolicence/eurusd_m1_mt5_nikoaganev_202210_202212.csv.gz", "EET", metaTrader, FOREX],
  ["nolicence/eurusd_m5_mt5_nikoaganev_202202_202212.csv.gz", "EET", metaTrader, FOREX],
  ["nolicence/eurusd_m15_mt5_magiclovexxx_202405_202604.csv.gz", "EET", metaTrader, FOREX],
  ["nolicence/xauusd_m15_mt5_magiclovexxx_202404_202604.csv.gz", "EET", metaTrader, METALS],
  ["nolicence/eurusd_m15_dukascopy_jessejay247_to_20251205.csv.gz", "UTC", metaTrader, FOREX],
  ["permissive/gbpusd_h1_mt5_ejtrader_2015_2022.csv.gz", "EET", metaTrader, FOREX],
];

describe.skipIf(!existsSync(DATA))("real files on the clock of their source (skipped without ../shared/data)", () => {
  test.each(FILES)("the clock of %s is detected as %s", async (name, clock, rule, open) => {
    const text = gunzipSync(readFileSync(path.join(DATA, name))).toString("latin1");
    // The column time_src has the time as the source wrote it.
    const header = text.slice(0, text.indexOf("\n")).replace("time,time_src", "time_utc,time");
    const file = await readFile("x.csv", header + text.slice(text.indexOf("\n")));
    const step = Math.min(
      ...file.rows.slice(1, 200).map(({ timeMs }, i) => (timeMs as number) - (file.rows[i]?.timeMs as number)),
    );
    const collector = createEvidenceCollector(step);
    for (const { timeMs } of file.rows) collector.row(timeMs as number, 1);
    expect(detectClock(collector.evidence(), rule, open)).toMatchObject({ assumed: false, clock: { name: clock } });
  });
});
