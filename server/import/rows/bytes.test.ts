import fc from "fast-check";
import { expect, test } from "vitest";
import { createDateReader, type EpochUnit, epochAt, epochUnitOf, hasOffset, numberAt, offsetSuffix, timeOfDayAt } from "./bytes";

const number = (text: string) => numberAt(Buffer.from(text), 0, text.length);
const timeOfDay = (text: string) => timeOfDayAt(Buffer.from(text), 0, text.length);
const epoch = (text: string, unit: EpochUnit) => epochAt(Buffer.from(text), 0, text.length, unit);

test("a decimal of up to 15 digits is parsed to the same double as in JavaScript", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
      fc.integer({ min: 0, max: 14 }),
      (whole, decimals) => {
        const digits = String(Math.abs(whole)).padStart(decimals + 1, "0");
        const text = `${whole < 0 ? "-" : ""}${digits.slice(0, digits.length - decimals)}${decimals > 0 ? `.${digits.slice(-decimals)}` : ""}`;
        expect(number(text)).toBe(Number(text));
      },
    ),
  );
});

test("the sum of two decimals loses its floating-point noise, whichever way it goes", () => {
  expect(number("1.2001199999999999")).toBe(1.20012);
  const price = fc.integer({ min: 1, max: 999_999_999 });
  fc.assert(
    fc.property(price, price, (a, b) => {
      expect(number(String(a / 1e5 + b / 1e5))).toBe((a + b) / 1e5);
    }),
  );
});

test("any printed double is parsed back to within floating-point noise", () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-7, max: 1e9, noNaN: true }), (value) => {
      expect(Math.abs(number(String(value)) - value)).toBeLessThanOrEqual(value * 1e-14 + 1e-14);
    }),
  );
});

test.each([
  ["1.1338300000000001", 1.13383],
  ["1e-05", 0.00001],
  ["+1.5", 1.5],
  [".5", 0.5],
  ["1.", 1],
  ["00012", 12],
])("%s is read", (text, value) => {
  expect(number(text)).toBeCloseTo(value, 12);
});

test.each([
  ["1,900.00", undefined, 1900],
  ["1,234,567", undefined, 1_234_567],
  ["1,900", undefined, Number.NaN],
  ["1,900", ".", 1900],
  ["1,08123", ".", Number.NaN],
  ["1,08123", ",", 1.08123],
  ["1.900,25", ",", 1900.25],
  ["19,00.00", ".", Number.NaN],
] as const)("%s with the decimal mark %s is %d", (text, mark, value) => {
  expect(numberAt(Buffer.from(text), 0, text.length, mark)).toBe(value);
});

test.each(["", "-", ".", "nan", "NaN", "null", "inf", "0x10", "1,5", "1.2.3", "1 2", "12a", "--1", "1e", "1e5000"])(
  "%j is not a number",
  (text) => {
    expect(number(text)).toBeNaN();
  },
);

test("parsing arbitrary bytes returns a number or NaN and never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
      const buffer = Buffer.from(bytes);
      for (const value of [
        numberAt(buffer, 0, buffer.length),
        timeOfDayAt(buffer, 0, buffer.length),
        createDateReader("ymd")(buffer, 0),
      ])
        expect(typeof value).toBe("number");
      offsetSuffix(buffer, 0, buffer.length);
    }),
  );
});

test.each([
  ["compact", "20200131"],
  ["ymd", "2020-01-31"],
  ["ymd", "2020.01.31"],
  ["dmy", "31.01.2020"],
  ["mdy", "01/31/2020"],
] as const)("a date written %s, %s, is read", (style, text) => {
  expect(createDateReader(style)(Buffer.from(text), 0)).toBe(Date.UTC(2020, 0, 31));
});

test.each(["2020-02-30", "2021-02-29", "2020-13-01", "2020-00-10", "2020-01-00", "20-01-2020", "abcd-01-01"])(
  "%s is not a date",
  (text) => {
    expect(createDateReader("ymd")(Buffer.from(text), 0)).toBeNaN();
  },
);

test.each([
  ["17:00", 61_200_000],
  ["17:00:01", 61_201_000],
  ["17:00:01.5", 61_201_500],
  ["17:00:01.123456", 61_201_123],
  ["170001", 61_201_000],
  ["170001065", 61_201_065],
])("the time of day %s is read", (text, ms) => {
  expect(timeOfDay(text)).toBe(ms);
});

test.each(["24:00", "17:60", "17:00:60", "1700", "17:00:", "17:00:00.", "17000", "17-00-00", "170000 12"])(
  "%s is not a time of day",
  (text) => {
    expect(timeOfDay(text)).toBeNaN();
  },
);

test("the unit of Unix times is that of the first one, from 1971 on, and all are read in it", () => {
  for (const ms of [31_536_000_000, 92_268_000_000, 99_999_999_999, 1_549_238_400_994, 1_780_000_000_000]) {
    const [s, ms1, us, ns] = [String(ms / 1000), String(ms), `${ms}000`, `${ms}000000`] as const;
    expect([s, ms1, us, ns].map((text) => epochUnitOf(["", undefined, "0", text, "1"]))).toEqual(["s", "ms", "us", "ns"]);
    expect([epoch(s, "s"), epoch(ms1, "ms"), epoch(us, "us"), epoch(ns, "ns")]).toEqual([ms, ms, ms, ms]);
  }
  expect(epoch("1549238400994999", "us")).toBe(1_549_238_400_994);
  expect(epoch("1549238400.994", "s")).toBe(1_549_238_400_994);
  // Three digits short: 1970, not the same instant.
  expect(epoch("1549238400", "ms")).toBe(1_549_238_400);
});

test.each([
  ["2024-01-08T08:00Z", "2024-01-08T08:00", 0],
  ["2024-01-08 08:00:00 Z", "2024-01-08 08:00:00", 0],
  ["2024-01-08 08:00:00+00", "2024-01-08 08:00:00", 0],
  ["2024-01-08 08:00:00.123456-05", "2024-01-08 08:00:00.123456", -300],
  ["20240108 080000+09", "20240108 080000", 540],
  ["20240108T080000-03", "20240108T080000", -180],
  ["2024-01-08 08:00:00+0530", "2024-01-08 08:00:00", 330],
  ["2024-01-08 08:00:00 -03:30", "2024-01-08 08:00:00", -210],
  ["2024-01-08+01:00", "2024-01-08", 60],
  ["08.01.2024 08:00:00.000 GMT-0500", "08.01.2024 08:00:00.000", -300],
  ["2024-01-08 08:00:00 UTC+02:00", "2024-01-08 08:00:00", 120],
  ["2024-01-08T08:00:00+01:00[Europe/Berlin]", "2024-01-08T08:00:00", 60],
])("%s ends with an offset", (text, local, minutes) => {
  const bytes = Buffer.from(text);
  expect(offsetSuffix(bytes, 0, bytes.length)).toEqual({ end: local.length, offsetMs: minutes * 60_000, nameAt: -1 });
});

test.each([
  ["2024-01-08 08:00:00 UTC", "2024-01-08 08:00:00", "UTC"],
  ["2024-01-08 08:00:00UTC", "2024-01-08 08:00:00", "UTC"],
  ["20240108  03:00:00 US/Eastern", "20240108  03:00:00", "US/Eastern"],
  ["1/8/2024 9:30 Etc/GMT-14", "1/8/2024 9:30", "Etc/GMT-14"],
  ["2024-01-08 08:00:00 America/Port-au-Prince", "2024-01-08 08:00:00", "America/Port-au-Prince"],
])("%s ends with the name of a zone", (text, local, name) => {
  const bytes = Buffer.from(text);
  const suffix = offsetSuffix(bytes, 0, bytes.length);
  expect(suffix).toEqual({ end: local.length, offsetMs: Number.NaN, nameAt: text.length - name.length });
});

test.each([
  "2024-01-08",
  "08-01-2024",
  "20240108",
  "20240108-08",
  "20240108-08:00",
  "2024-01-08 08:00:00",
  "1/8/2024 9:30 PM",
  "1/8/2024 9:30PM",
  "1/8/2024 9:30 p.m.",
  "Jan 05, 2024",
  "2024-01-08 08:00:00 +15:00",
  "2024-01-08 UTC",
  "Z",
  "UTC",
])("%s has no offset", (text) => {
  expect(hasOffset(text)).toBe(false);
});
