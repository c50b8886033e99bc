import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { AssetClass } from "#lib/contract/instrument";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { Unsure } from "#server/import/failure";
import { clockNamed, type KnownClock, knownClock, parseClock } from "#server/import/formats/clocks";
import { type ClockRule, HISTDATA_CLOCK, METATRADER_CLOCK } from "#server/import/formats/format";
import { emptyRow, type Row, type RowKind } from "#server/import/rows/row";
import type { StoredPrices } from "#server/store/klines/kline-store";
import { at } from "#server/testing/import-rows";
import { type ClockEvidence, createEvidenceCollector, detectClock, evidenceOf, isDoubtful, weeklyHours } from "./clock";
import { clockOfStored } from "./stored-clock";

const DATA = path.resolve(process.cwd(), "../shared/data");
const HOUR = HOUR_MS;
const DAY = 24 * HOUR;
const metaTrader = (METATRADER_CLOCK as { detect: ClockRule }).detect;
const histData = (HISTDATA_CLOCK as { detect: ClockRule }).detect;

/** Hours that a clock was ahead of UTC when it was last asked: it rarely changes. */
const lastAhead = new WeakMap<object, number>();

/** The local time that a clock shows at an instant. */
function shownBy(clock: { toUtcMs(ms: number): number }, utcMs: number): number {
  const shows = (ahead: number) => clock.toUtcMs(utcMs + ahead) === utcMs;
  const last = lastAhead.get(clock);
  if (last !== undefined && shows(last)) return utcMs + last;
  for (let ahead = -6 * HOUR; ahead <= 15 * HOUR; ahead += HOUR) {
    if (!shows(ahead)) continue;
    lastAhead.set(clock, ahead);
    return utcMs + ahead;
  }
  throw new Error("no such time on this clock");
}

/** What a clock shows; one clock for all rows, because making one is slow. */
function shownOn(name: KnownClock): (utcMs: number) => number {
  const clock = knownClock(name);
  return (utcMs) => shownBy(clock, utcMs);
}

/** Quotes every half hour while the market is open, on the clock of `shown`; some hours may be omitted. */
function rowsBetween(
  from: string,
  to: string,
  shown: (utcMs: number) => number,
  market: AssetClass = "forex",
  isHeld = (_localMs: number) => false,
): ClockEvidence {
  const collector = createEvidenceCollector(HOUR / 2);
  const hours = weeklyHours(market);
  for (let ms = at(`${from}T00:00:00Z`) - DAY; ms < at(`${to}T00:00:00Z`) + DAY; ms += HOUR / 2) {
    if (hours.sessionAt(ms).state !== "open") continue;
    const local = shown(ms);
    if (local >= at(`${from}T00:00:00Z`) && local < at(`${to}T00:00:00Z`) && !isHeld(local)) collector.row(local, 1);
  }
  return collector.evidence();
}

const year = (of: number, shown: (utcMs: number) => number, market?: AssetClass, isHeld?: (localMs: number) => boolean) =>
  rowsBetween(`${of}-01-06`, `${of}-12-20`, shown, market, isHeld);

const CLOCKS: KnownClock[] = ["UTC", "-05:00", "EST+EU", "America/New_York", "EET", "NY+7", "CET", "Europe/London", "+03:00"];
const detect = (evidence: ClockEvidence, rule = metaTrader, market: AssetClass = "forex") =>
  detectClock([{ evidence, hours: weeklyHours(market) }], rule);

test.each(CLOCKS)("a year of weekends identifies the clock %s, for currencies and metals", (name) => {
  const clock = knownClock(name);
  for (const market of ["forex", "metals"] as const)
    expect(
      detect(
        year(2021, (ms) => shownBy(clock, ms), market),
        metaTrader,
        market,
      ).clock.name,
    ).toBe(name);
});

test("HistData files on fixed EST and HistData files that change on European dates are distinguished", () => {
  for (const name of ["-05:00", "EST+EU"] as const) expect(detect(year(2021, shownOn(name)), histData).clock.name).toBe(name);
});

test("an EET server that opens at its own midnight, an hour late while US and EU clocks disagree, is detected as EET, not NY+7", () => {
  const onSunday = (local: number) => new Date(local).getUTCDay() === 0;
  const evidence = year(2022, shownOn("EET"), "forex", onSunday);
  expect(detect(evidence).clock.name).toBe("EET");
});

test("of an EET server's October two clocks fit, so that it asks, and names both and the day from which they differ", () => {
  const evidence = rowsBetween("2022-10-02", "2022-11-01", shownOn("EET"), "forex", (local) => {
    return new Date(local).getUTCDay() === 0;
  });
  expect(() => detect(evidence)).toThrow(Unsure);
  expect(() => detect(evidence)).toThrow(/EET.*New York \+ 7.*from 2022-10-31 on.*--tz EET or --tz NY\+7/);
});

test("a server that ends an hour early each Friday is not taken for one that opens an hour late each Sunday", () => {
  const lastHour = (local: number) => new Date(local).getUTCDay() === 5 && new Date(local).getUTCHours() === 23;
  const evidence = rowsBetween("2022-06-05", "2022-07-09", shownOn("EET"), "forex", lastHour);
  expect(() => detect(evidence)).toThrow(Unsure);
});

test("days of a currency never show its clock, and days of a metal do by its daily break", () => {
  const day = (market: AssetClass) => rowsBetween("2022-06-07", "2022-06-09", shownOn("EET"), market);
  expect(() => detect(day("forex"))).toThrow(/clocks fit its rows/);
  expect(detect(day("metals"), metaTrader, "metals").clock.name).toBe("EET");
});

test("rows that fit one known clock, and the same one an hour later, do not show it", () => {
  const afternoon = (local: number) => new Date(local).getUTCDay() === 5 && new Date(local).getUTCHours() >= 15;
  const week = (isHeld?: (local: number) => boolean) =>
    rowsBetween("2022-01-09", "2022-01-16", shownOn("-05:00"), "forex", isHeld);
  expect(detect(week(), histData).clock.name).toBe("-05:00");
  expect(() => detect(week(afternoon), histData)).toThrow(/an hour more or less fits them too.*--tz -05:00/);
});

test("files of one source decide their clock together", () => {
  const day = (name: KnownClock, from: string, to: string) => ({
    evidence: rowsBetween(from, to, shownOn(name)),
    hours: weeklyHours("forex"),
  });
  const parts = [day("CET", "2022-06-05", "2022-06-08"), day("CET", "2022-06-08", "2022-06-12")];
  for (const part of parts) expect(() => detectClock([part], metaTrader)).toThrow(Unsure);
  expect(detectClock(parts, metaTrader).clock.toUtcMs(at("2022-06-07T12:00:00Z"))).toBe(at("2022-06-07T10:00:00Z"));
  expect(() => detectClock([...parts, day("EET", "2022-06-05", "2022-06-12")], metaTrader)).toThrow(Unsure);
});

test("a change of the server's clock from CET to EET is detected, and the error names both clocks in the syntax of --tz", () => {
  const [cet, eet] = [knownClock("CET"), knownClock("EET")];
  const evidence = year(2014, (ms) => shownBy(ms < Date.UTC(2014, 6, 6) ? cet : eet, ms));
  expect(() => detect(evidence)).toThrow(/CET.*fits until 2014-07-05.*--tz "CET\.\.2014-07-05,EET"/);
});

test("times labelled UTC that are New York + 7 h are doubtful, and real UTC is not", () => {
  const doubts = (shown: (ms: number) => number) =>
    isDoubtful(knownClock("UTC"), { evidence: year(2022, shown), hours: weeklyHours("forex") });
  expect(doubts(shownOn("NY+7"))).toBe(true);
  expect(doubts((ms) => ms)).toBe(false);
});

describe("prices that are stored for the same minutes", () => {
  const stored = new Map(
    Array.from({ length: 3_000 }, (_, index) => {
      const close = 1.1 + Math.sin(index / 7) / 100 + Math.sin(index / 90) / 50;
      return [
        at("2022-06-07T00:00:00Z") / 1000 + index * 60,
        { open: close, low: close - 0.0001, high: close + 0.0001, close },
      ] as const;
    }),
  );
  const read = async (_timeframe: string, times: readonly number[]) =>
    new Map(times.flatMap((time) => (stored.has(time) ? [[time, stored.get(time) as StoredPrices] as const] : [])));
  const clocks = ["EET", "CET", "UTC"].map((name) => knownClock(name as KnownClock));
  const minutes = { kind: "klines", timeframe: "M1" } as const;
  const shownByEet = shownOn("EET");
  /** Stored prices as an EET server shows them, with what another broker's prices differ by. */
  const samples = [...stored].slice(400, 1_900).map(([time, { close }], index) => ({
    timeMs: shownByEet(time * 1000),
    price: close + ((index % 3) - 1) * 0.00003,
  }));

  test.each(["klines", "ticks"] as const)("decide the clock of %s", async (kind) => {
    expect((await clockOfStored(clocks, samples, { kind, timeframe: "M1" }, read))?.name).toBe("EET");
  });

  test("do not decide it with few common minutes, with other prices, or on none of these clocks", async () => {
    expect(await clockOfStored(clocks, samples.slice(0, 20), minutes, read)).toBeUndefined();
    const other = samples.map(({ timeMs, price }) => ({ timeMs, price: price * 1.5 }));
    expect(await clockOfStored(clocks, other, minutes, read)).toBeUndefined();
    expect(await clockOfStored(clocks.slice(1), samples, minutes, read)).toBeUndefined();
  });
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
  ["CET", "2022-06-30T22:00:00Z"],
  ["WET", "2022-06-30T23:00:00Z"],
  ["MEZ", "2022-06-30T22:00:00Z"],
  ["CEST..2024-03-30,EET", "2022-06-30T22:00:00Z"],
  ["EDT", "2022-07-01T04:00:00Z"],
  ["msk", "2022-06-30T21:00:00Z"],
  ["JST", "2022-06-30T15:00:00Z"],
  ["ACST", "2022-06-30T14:30:00Z"],
  ["NZST", "2022-06-30T12:00:00Z"],
  ["Japan", "2022-06-30T15:00:00Z"],
  ["EST5EDT", "2022-07-01T04:00:00Z"],
])("--tz %s is accepted", (text, utc) => {
  expect(new Date(parseClock(text).toUtcMs(Date.UTC(2022, 6, 1))).toISOString()).toBe(utc.replace("Z", ".000Z"));
});

test.each([
  ["EET", "2024-03-31T03:30:00Z", "2024-03-31T04:00:00Z"],
  ["NY+7", "2024-03-10T09:30:00Z", "2024-03-10T10:00:00Z"],
  ["America/New_York..2024-06-01,EET", "2024-03-10T02:30:00Z", "2024-03-10T03:00:00Z"],
])("the clock %s skips %s", (name, skipped, next) => {
  const clock = parseClock(name);
  expect([clock.exists(at(skipped)), clock.exists(at(next))]).toEqual([false, true]);
  expect(parseClock("UTC").exists(at(skipped))).toBe(true);
});

test("the hours of a real metals server over the weeks in which only the US has daylight saving show EET", () => {
  const [header = "", ...lines] = gunzipSync(readFileSync("lib/testing/fixtures/xauusd_h1_mt5_ejtrader_202103.csv.gz"))
    .toString()
    .trimEnd()
    .split("\n");
  const source = header.split(",").indexOf("time_src");
  const collector = createEvidenceCollector(HOUR);
  const times = lines.map((line) => ({ local: at(`${line.split(",")[source]}Z`), utc: at(line.split(",")[0] as string) }));
  for (const { local } of times) collector.row(local, 1);
  const { clock } = detect(collector.evidence(), metaTrader, "metals");
  expect(clock.name).toBe("EET");
  expect(times.filter(({ local, utc }) => clock.toUtcMs(local) !== utc)).toEqual([]);
});

test.each(["", "Mars/Olympus", "+25:00", "CET,EET", "CET..2014-03-30", "CET..2014-99-30,EET"])("--tz %j is rejected", (text) => {
  expect(() => parseClock(text)).toThrow("--tz");
});

test.each([
  ["BST", /BST: means Europe\/London \(British summer time\), Asia\/Dhaka.*: say which, for example --tz Europe\/London$/],
  ["ist", /means Asia\/Kolkata .*Asia\/Jerusalem .*Europe\/Dublin/],
  ["CST..2014-03-30,EET", /CST: means America\/Chicago .*-06:00 .*Asia\/Shanghai/],
  ["PST", /--tz America\/Los_Angeles$/],
  ["ACT", /not a time zone/],
  ["Vst", /not a time zone/],
  ["ROK", /not a time zone/],
  ["toString", /not a time zone/],
])("--tz %s, which Intl or several zones take, is not guessed", (text, message) => {
  expect(() => parseClock(text)).toThrow(message);
});

test("every candidate of an ambiguous abbreviation is a value of --tz", () => {
  for (const word of ["ADT", "AMT", "AST", "BST", "CDT", "CST", "GST", "IST", "MST", "NST", "PST", "SST", "WST"]) {
    const [, list = ""] = /: means (.*): say which/.exec(reasonFor(word)) ?? [];
    const values = list.split(/(?: \([^)]*\))?(?:, |$)/).filter((value) => value !== "");
    expect(values.length).toBeGreaterThan(1);
    for (const value of values) expect(() => clockNamed(value)).not.toThrow();
  }
});

/** Why a value of --tz is rejected. */
function reasonFor(text: string): string {
  try {
    return clockNamed(text).title;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Real rows, the length of a row in minutes, and the market. */
const FILES: [name: string, minutes: number, market: AssetClass][] = [
  ["nolicence/eurusd_m1_mt5_nikoaganev_202210_202212", 1, "forex"],
  ["nolicence/eurusd_m15_mt5_magiclovexxx_202405_202604", 15, "forex"],
  ["nolicence/xauusd_m15_mt5_magiclovexxx_202404_202604", 15, "metals"],
];
/** Of the days, every how many is judged: not a multiple of the days of a week. */
const DAYS_STRIDE = 8;
const SLICES: [name: string, of: (localMs: number) => string][] = [
  ["day", (ms) => new Date(ms).toISOString().slice(0, 10)],
  ["week", (ms) => `${Math.floor((ms / DAY + 4) / 7)}`],
  ["fortnight", (ms) => `${Math.floor((ms / DAY + 4) / 14)}`],
  ["month", (ms) => new Date(ms).toISOString().slice(0, 7)],
  ["file", () => "all"],
];

/** Rows of a file of the shared data: the time on the clock of its source, and the instant. */
function timesOf(name: string): { local: number; utc: number }[] {
  const [header = "", ...lines] = gunzipSync(readFileSync(path.join(DATA, `${name}.csv.gz`)))
    .toString("latin1")
    .trimEnd()
    .split("\n");
  const source = header.split(",").indexOf("time_src");
  return lines.map((line) => {
    const cells = line.split(",");
    const utc = Date.parse(cells[0] as string);
    return { utc, local: source < 0 ? utc : Date.parse(`${cells[source]?.replace(" ", "T")}Z`) };
  });
}

describe.skipIf(!existsSync(DATA))("slices of real files (skipped without ../shared/data)", () => {
  test.each(FILES)("none of %s is read an hour off: each slice is right or asked for", (name, minutes, market) => {
    const counts: Record<string, { decided: number; asked: number }> = {};
    const rows = timesOf(name);
    for (const [slice, of] of SLICES) {
      const count = { decided: 0, asked: 0 };
      counts[slice] = count;
      const parts = new Map<string, typeof rows>();
      for (const row of rows) {
        const part = parts.get(of(row.local)) ?? [];
        part.push(row);
        parts.set(of(row.local), part);
      }
      // A day takes as long to judge as a month.
      const judged = [...parts.values()].filter((_, index) => slice !== "day" || index % DAYS_STRIDE === 0);
      for (const part of judged) {
        const collector = createEvidenceCollector(minutes * MINUTE_MS);
        for (const { local } of part) collector.row(local, 1);
        try {
          const { clock } = detect(collector.evidence(), metaTrader, market);
          count.decided += 1;
          expect(part.filter(({ local, utc }) => clock.toUtcMs(local) !== utc)).toEqual([]);
        } catch (error) {
          if (!(error instanceof Unsure)) throw error;
          count.asked += 1;
        }
      }
    }
    // Most weeks and longer slices are decided, and complete files always.
    expect(counts.file).toEqual({ decided: 1, asked: 0 });
    expect(counts.week?.decided).toBeGreaterThan(counts.week?.asked ?? 0);
  });
});

/** How many runs of rows a file of this one row has. */
function runsOf(row: Partial<Row>, kind: RowKind = "klines"): number {
  const { row: take, evidence } = evidenceOf({ recognition: { kind }, timeframe: "M1", sample: { newestFirst: false } });
  take({ ...emptyRow(), timeMs: 0, bid: 1, ask: 1, open: 1, high: 1, low: 1, close: 1, ...row });
  return evidence().runs.length;
}

describe("the clock of a file", () => {
  test.each([
    ["ticks", { tickVolume: 0 }],
    ["real volume", { realVolume: 0 }],
    ["either", { tickVolume: 0, realVolume: 0 }],
  ])("is not judged by klines that fill closed hours: flat, and without %s", (_, volumes) => {
    expect(runsOf(volumes)).toBe(0);
  });

  test.each([
    ["a price that moved", { high: 1.1, tickVolume: 0 }],
    ["ticks", { tickVolume: 3, realVolume: 0 }],
    ["real volume", { tickVolume: 0, realVolume: 3 }],
    ["no column of volumes", {}],
  ])("is judged by klines with %s", (_, row) => {
    expect(runsOf(row)).toBe(1);
  });

  test("is judged by every tick", () => {
    expect(runsOf({ tickVolume: 0 }, "ticks")).toBe(1);
  });
});
