import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { answersTo, readOracle } from "#lib/testing/calendar-oracle";
import { type DukascopyInstrument, dukascopyCalendar, type LeanEntry, leanCalendar } from "#lib/testing/lean-calendar";
import { type Calendar, compileCalendar } from "./calendar";
import { forex } from "./calendars/forex";
import { metals } from "./calendars/metals";

const FIXTURE = path.resolve("lib/testing/fixtures/calendar-oracle.csv");
const DATA = path.resolve(process.cwd(), "../shared/data/calendar");
/** The definitions extend weeks past the last tested instant, so no row depends on their end. */
const COVERED_UNTIL = "2027-12-31";

const shipped: Record<string, Calendar> = {
  "dukascopy:EUR-USD": compileCalendar(forex, []),
  "lean:Future-comex-GC": compileCalendar(metals, []),
};

function shippedCalendar(name: string): Calendar {
  const calendar = shipped[name];
  if (calendar === undefined) throw new Error(`no shipped calendar answers ${name}`);
  return calendar;
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(path.join(DATA, name), "utf8"));
}

describe("oracle rows kept with the project", () => {
  const rows = readOracle(FIXTURE);

  test("there are thirty oracle rows, from both shipped calendars", () => {
    expect(rows).toHaveLength(30);
    expect(new Set(rows.map((row) => row.calendar))).toEqual(new Set(Object.keys(shipped)));
  });

  test("the shipped forex and metals calendars match each oracle row exactly", () => {
    expect(answersTo(rows, shippedCalendar)).toEqual(rows);
  });
});

describe.skipIf(!existsSync(DATA))("the whole oracle (skipped where ../shared/data is absent)", () => {
  const rows = existsSync(DATA) ? readOracle(path.join(DATA, "oracle_shared.csv")) : [];

  test("the Lean and Dukascopy definitions give all 500 oracle rows: state, next open, next close", () => {
    const { entries } = readJson<{ entries: Record<string, LeanEntry> }>("lean_market_hours_fx_metals.json");
    const instrument = readJson<DukascopyInstrument>("dukascopy_eurusd_calendar.json");
    const compiled = new Map(
      [...new Set(rows.map((row) => row.calendar))].map((name) => [
        name,
        compileCalendar(
          name.startsWith("lean:")
            ? leanCalendar(entries, name.slice("lean:".length), COVERED_UNTIL)
            : dukascopyCalendar(instrument, COVERED_UNTIL),
          [],
        ),
      ]),
    );
    const calendarOf = (name: string): Calendar => compiled.get(name) ?? compileCalendar(undefined, []);
    expect(rows).toHaveLength(500);
    expect(answersTo(rows, calendarOf)).toEqual(rows);
  });

  test("the shipped calendars match every oracle row of the definitions they replace", () => {
    const own = rows.filter((row) => row.calendar in shipped);
    expect(own).toHaveLength(98);
    expect(answersTo(own, shippedCalendar)).toEqual(own);
  });
});
