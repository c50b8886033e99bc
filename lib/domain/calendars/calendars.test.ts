import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { type CalendarDefinition, compileCalendar, type WeeklyCalendar } from "#lib/domain/calendar";
import { zone } from "#lib/domain/zone";
import { type DukascopyInstrument, dukascopyCalendar, type LeanEntry, leanCalendar } from "#lib/testing/lean-calendar";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { forex } from "./forex";
import { SEED_CALENDARS } from "./index";
import { metals } from "./metals";

const DATA = path.resolve(process.cwd(), "../shared/data/calendar");
const GOLD_H1 = path.resolve(process.cwd(), "../shared/data/permissive/xauusd_h1_mt5_ejtrader_2012_2022.csv.gz");
const newYork = zone("America/New_York");
/** A New York wall time as an instant. */
const ny = (local: string) => newYork.fromLocal(Date.parse(`${local}Z`));
const compiled = { forex: compileCalendar(forex, []), metals: compileCalendar(metals, []) };

/** State, reason and source at a New York wall time, and the next open in New York time. */
function describeAt(calendar: keyof typeof compiled, local: string): string {
  const { state, reason, source, nextOpen } = compiled[calendar].sessionAt(ny(local));
  const next = nextOpen === null ? "never" : new Date(newYork.toLocal(nextOpen)).toISOString().slice(0, 16);
  return `${state} ${reason} ${source} ${next}`;
}

describe("forex", () => {
  test.each([
    ["2026-06-10T16:59:59", "open null session_rules 2026-06-14T17:00"],
    ["2026-06-12T16:59:59", "open null session_rules 2026-06-14T17:00"],
    ["2026-06-12T17:00:00", "closed weekend session_rules 2026-06-14T17:00"],
    ["2026-06-13T12:00:00", "closed weekend session_rules 2026-06-14T17:00"],
    ["2026-06-14T17:00:00", "open null session_rules 2026-06-21T17:00"],
    ["2025-12-25T02:59:59", "open null session_rules 2025-12-25T17:00"],
    ["2025-12-25T12:00:00", "closed holiday holiday_calendar 2025-12-25T17:00"],
    ["2025-12-31T20:00:00", "closed holiday holiday_calendar 2026-01-01T17:00"],
    ["2026-01-01T12:00:00", "closed holiday holiday_calendar 2026-01-01T17:00"],
    ["2023-12-24T17:30:00", "closed late_open holiday_calendar 2023-12-24T18:00"],
    ["2026-12-25T12:00:00", "closed holiday holiday_calendar 2026-12-27T17:00"],
    ["2026-12-26T12:00:00", "closed weekend session_rules 2026-12-27T17:00"],
    ["2028-12-30T12:00:00", "closed weekend session_rules never"],
    ["2029-01-01T00:00:00", "unknown calendar_horizon unavailable never"],
  ])("forex at %s New York: %s", (local, answer) => {
    expect(describeAt("forex", local)).toBe(answer);
  });
});

describe("metals", () => {
  test.each([
    ["2026-06-10T16:59:59", "open null session_rules 2026-06-10T18:00"],
    ["2026-06-10T17:00:00", "closed daily_break session_rules 2026-06-10T18:00"],
    ["2026-06-10T17:59:59", "closed daily_break session_rules 2026-06-10T18:00"],
    ["2026-06-10T18:00:00", "open null session_rules 2026-06-11T18:00"],
    ["2026-06-12T17:30:00", "closed weekend session_rules 2026-06-14T18:00"],
    ["2026-06-13T12:00:00", "closed weekend session_rules 2026-06-14T18:00"],
    ["2026-01-19T14:29:59", "open null session_rules 2026-01-19T18:00"],
    ["2026-01-19T15:00:00", "closed early_close holiday_calendar 2026-01-19T18:00"],
    ["2026-01-19T17:30:00", "closed daily_break session_rules 2026-01-19T18:00"],
    ["2026-07-03T14:00:00", "closed early_close holiday_calendar 2026-07-05T18:00"],
    ["2026-07-03T17:30:00", "closed weekend session_rules 2026-07-05T18:00"],
    ["2026-04-02T17:30:00", "closed holiday holiday_calendar 2026-04-05T18:00"],
    ["2026-04-03T10:00:00", "closed holiday holiday_calendar 2026-04-05T18:00"],
    ["2025-12-24T15:00:00", "closed early_close holiday_calendar 2025-12-25T18:00"],
    ["2025-12-24T20:00:00", "closed holiday holiday_calendar 2025-12-25T18:00"],
    ["2025-12-25T12:00:00", "closed holiday holiday_calendar 2025-12-25T18:00"],
    ["2025-12-25T18:00:00", "open null session_rules 2025-12-28T18:00"],
    ["2027-12-24T12:00:00", "closed holiday holiday_calendar 2027-12-26T18:00"],
    ["2027-12-31T12:00:00", "open null session_rules 2028-01-02T18:00"],
    ["2029-01-01T00:00:00", "unknown calendar_horizon unavailable never"],
  ])("metals at %s New York: %s", (local, answer) => {
    expect(describeAt("metals", local)).toBe(answer);
  });
});

describe("both clock changes", () => {
  const utc = (at: number | null) => (at === null ? null : new Date(at).toISOString());

  test.each([
    ["forex", "2026-03-08T12:00:00", "2026-03-08T21:00:00.000Z", "2026-03-13T21:00:00.000Z"],
    ["forex", "2026-11-01T12:00:00", "2026-11-01T22:00:00.000Z", "2026-11-06T22:00:00.000Z"],
    ["metals", "2026-03-08T12:00:00", "2026-03-08T22:00:00.000Z", "2026-03-09T21:00:00.000Z"],
    ["metals", "2026-11-01T12:00:00", "2026-11-01T23:00:00.000Z", "2026-11-02T22:00:00.000Z"],
    // Europe has changed and New York has not: New York's clock counts.
    ["metals", "2026-10-25T12:00:00", "2026-10-25T22:00:00.000Z", "2026-10-26T21:00:00.000Z"],
    ["metals", "2026-03-29T12:00:00", "2026-03-29T22:00:00.000Z", "2026-03-30T21:00:00.000Z"],
  ] as const)(
    "on the Sunday of a clock change %s is closed at %s, opens at %s and closes at %s",
    (name, local, opens, closes) => {
      const { nextOpen, nextClose } = compiled[name].sessionAt(ny(local));
      expect([utc(nextOpen), utc(nextClose)]).toEqual([opens, closes]);
    },
  );

  test.each([
    ["forex", 1, 120],
    ["metals", 5, 115],
  ] as const)("%s has %i sessions of %i hours in each week without an exception", (name, count, hours) => {
    const definition: WeeklyCalendar = { ...{ forex, metals }[name], holidays: [], earlyCloses: {}, lateOpens: {} };
    const calendar = compileCalendar(definition, []);
    for (let sunday = Date.parse("2015-01-04T00:00:00Z"); sunday < Date.parse("2028-12-24T00:00:00Z"); sunday += 7 * DAY_MS) {
      const sessions = calendar.sessionsBetween(newYork.fromLocal(sunday), newYork.fromLocal(sunday + 7 * DAY_MS)) ?? [];
      expect(sessions).toHaveLength(count);
      expect(sessions.reduce((sum, { openMs, closeMs }) => sum + closeMs - openMs, 0)).toBe(hours * HOUR_MS);
    }
  });
});

test.each(Object.entries(SEED_CALENDARS))("the seed calendar %s survives JSON, is valid, and covers 2028", (_, definition) => {
  expect(CalendarDefinitionSchema.parse(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
  expect(compileCalendar(definition, []).sessionAt(Date.parse("2028-12-31T12:00:00Z")).state).not.toBe("unknown");
});

test("no holiday has another exception on its date", () => {
  for (const { holidays, earlyCloses, lateOpens } of [forex, metals]) {
    const dates = [...holidays, ...new Set([...Object.keys(earlyCloses), ...Object.keys(lateOpens)])];
    expect(new Set(dates).size).toBe(dates.length);
  }
});

/** Rows of observed_closures_shared.csv on which the calendar's closure is not the observed one, as "from to". */
function disagreements(symbol: string, calendar: keyof typeof compiled): { rows: number; differ: string[] } {
  const [, ...lines] = readFileSync(path.join(DATA, "observed_closures_shared.csv"), "utf8").trim().split("\n");
  const rows = lines.map((line) => line.split(",")).filter(([name]) => name === symbol);
  const differ = rows.flatMap(([, , from = "", reopened = "", , fromNy = "", reopenedNy = ""]) => {
    const { closedAt, nextOpen } = compiled[calendar].sessionAt(Date.parse(from));
    return closedAt === Date.parse(from) && nextOpen === Date.parse(reopened) ? [] : [`${fromNy} to ${reopenedNy}`];
  });
  return { rows: rows.length, differ };
}

describe.skipIf(!existsSync(DATA))("against outside sources (skipped where ../shared/data is absent)", () => {
  const readJson = <T>(name: string): T => JSON.parse(readFileSync(path.join(DATA, name), "utf8"));
  const sessions = (definition: CalendarDefinition, from: string, to: string) =>
    compileCalendar(definition, []).sessionsBetween(ny(`${from}T00:00:00`), ny(`${to}T00:00:00`));

  test("forex has Dukascopy's sessions from 2008 to the last holiday they list", () => {
    const instrument = readJson<DukascopyInstrument>("dukascopy_eurusd_calendar.json");
    const theirs = sessions(dukascopyCalendar(instrument, "2028-12-31"), "2008-01-01", "2026-12-20");
    expect(sessions(forex, "2008-01-01", "2026-12-20")).toEqual(theirs);
  });

  test("metals has the gold future's sessions of the Lean database from 2024 to New Year 2027, and is open on 2025-01-09", () => {
    const { entries } = readJson<{ entries: Record<string, LeanEntry> }>("lean_market_hours_fx_metals.json");
    const theirs = sessions(leanCalendar(entries, "Future-comex-GC", "2028-12-31"), "2024-01-01", "2027-01-02");
    // The exchange was closed on a day of mourning on which spot gold was quoted.
    const exchange = { ...metals, holidays: [...metals.holidays, "2025-01-09"] };
    expect(sessions(exchange, "2024-01-01", "2027-01-02")).toEqual(theirs);
    expect(describeAt("metals", "2025-01-09T12:00:00")).toBe("open null session_rules 2025-01-09T18:00");
  });

  test("metals has 520 of the 525 closures of a broker's gold exactly; the others are listed", () => {
    expect(disagreements("XAUUSD", "metals")).toEqual({
      rows: 525,
      differ: [
        // The exchange's day after Thanksgiving is not in the database for 2024.
        "Fri 2024-11-29 14:45 to Sun 2024-12-01 18:00",
        // The broker ends earlier on the eves of Christmas and New Year, and begins at 01:00 on the day after.
        "Tue 2024-12-24 13:15 to Thu 2024-12-26 01:00",
        "Tue 2024-12-31 13:15 to Thu 2025-01-02 01:00",
        "Wed 2025-12-24 13:00 to Fri 2025-12-26 01:00",
        "Wed 2025-12-31 13:00 to Fri 2026-01-02 01:00",
      ],
    });
  });

  test("forex has every closure of Dukascopy's and a broker's EURUSD, except the broker's own Christmas and New Year", () => {
    expect(disagreements("EURUSD", "forex")).toEqual({
      rows: 146,
      differ: [
        "Tue 2024-12-24 13:15 to Thu 2024-12-26 01:00",
        "Tue 2024-12-31 13:15 to Thu 2025-01-02 01:00",
        "Wed 2025-12-24 13:00 to Fri 2025-12-26 01:00",
        "Wed 2025-12-31 13:00 to Fri 2026-01-02 01:00",
      ],
    });
  });

  test("a broker's 42,172 hours of gold from 2015 to March 2022 lie in metals sessions, except on two days", () => {
    const [, ...lines] = gunzipSync(readFileSync(GOLD_H1)).toString().trim().split("\n");
    const hours = lines
      .map((line) => Date.parse(line.slice(0, line.indexOf(","))))
      .filter((time) => time >= ny("2015-01-01T00:00:00"));
    const outside = hours.filter((time) => compiled.metals.sessionsBetween(time, time + HOUR_MS)?.length === 0);
    expect(hours).toHaveLength(42_172);
    expect(outside.map((time) => new Date(newYork.toLocal(time)).toISOString().slice(0, 13))).toEqual([
      // The broker went on for three hours into Good Friday 2015, and for two into Memorial Day's halt.
      "2015-04-02T18",
      "2015-04-02T19",
      "2015-04-02T20",
      "2015-05-25T13",
      "2015-05-25T14",
    ]);
  });
});
