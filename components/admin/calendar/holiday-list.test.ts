import { describe, expect, test } from "vitest";
import { EXCEPTIONS_MAX_COUNT } from "#lib/contract/calendar";
import { DAY_MS } from "#lib/units";
import { HOLIDAY_LIST_MAX_CHARACTERS, readHolidayList } from "./holiday-list";

const HEADER = "date,kind,time,name";
const csv = (...lines: string[]) => readHolidayList([HEADER, ...lines].join("\n"));
const event = (...lines: string[]) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
const ics = (...lines: string[]) => readHolidayList(["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR"].join("\r\n"));
const closed = (date: string, name = "") => ({ date, kind: "closed", time: "", name });

describe("CSV", () => {
  test("is read with a byte order mark, any line ends, blank lines, quotes, and kinds in any spelling", () => {
    const text = `\uFEFFDate, Kind, Time, Name\r\n\r\n2026-12-24,Early Close,13:00,"Christmas ""Eve"", half"\r2026-12-25,closed,,\n`;
    expect(readHolidayList(text)).toEqual({
      rows: [{ date: "2026-12-24", kind: "early_close", time: "13:00", name: 'Christmas "Eve", half' }, closed("2026-12-25")],
      problems: [],
      refused: 0,
    });
  });

  test.each([
    ["a date that does not exist", "2026-02-30,closed,,", /^`date` must be a date/],
    ["a date in another form", "25.12.2026,closed,,", /^`date` must be a date/],
    ["a year that cannot be meant", "2999-12-25,closed,,", /^`date` must be a date between the years/],
    ["an unknown kind", "2026-12-25,holiday,,", /^`kind` must be one of/],
    ["an early close without a time", "2026-12-24,early_close,,", /^`time` must be a local time/],
    ["a time of a closed day", "2026-12-25,closed,13:00,", /^`time` must be empty when the whole day is closed\./],
    ["a name that is too long", `2026-12-25,closed,,${"x".repeat(81)}`, /^`name` must have at most 80 characters/],
    ["a missing cell", "2026-12-25,closed", /^A line has four cells/],
    ["a quote that is not closed", '2026-12-25,closed,,"Christmas', /^A quotation mark/],
  ])("%s is refused with the number of its line, and the other lines are read", (_, line, detail) => {
    const { rows, problems, refused } = csv("2026-01-01,closed,,New Year", line, "2026-05-01,closed,,");
    expect(rows.map(({ date }) => date)).toEqual(["2026-01-01", "2026-05-01"]);
    expect(problems).toEqual([{ line: 3, detail: expect.stringMatching(detail) }]);
    expect(refused).toBe(1);
  });

  test("without its header it is not guessed", () => {
    expect(readHolidayList("\n2026-12-25;closed")).toMatchObject({ rows: [], problems: [{ line: 2 }], refused: 1 });
  });

  test("a repeated row is read once; one that contradicts an earlier line is refused", () => {
    const { rows, problems } = csv(
      ...["2026-12-25,closed,,Christmas", "2026-12-25,closed,,Noël", "2026-12-25,early_close,13:00,"],
      ...["2026-09-07,early_close,13:00,", "2026-09-07,late_open,18:00,", "2026-09-07,late_open,19:00,"],
    );
    expect(rows).toHaveLength(3);
    expect(problems).toEqual([
      { line: 4, detail: "2026-12-25 contradicts line 2." },
      { line: 7, detail: "2026-09-07 contradicts line 6." },
    ]);
  });

  test("rows past the maximum are refused once, by name", () => {
    const lines = Array.from({ length: EXCEPTIONS_MAX_COUNT + 2 }, (_, day) => {
      return `${new Date(day * DAY_MS).toISOString().slice(0, 10)},closed,,`;
    });
    const { rows, problems } = csv(...lines);
    expect(rows).toHaveLength(EXCEPTIONS_MAX_COUNT);
    expect(problems).toEqual([{ line: EXCEPTIONS_MAX_COUNT + 2, detail: expect.stringContaining("more than 2,000 rows") }]);
  });

  test("errors past a hundred are counted, not listed; a list that is too large is not read", () => {
    const { problems, refused } = csv(...Array<string>(150).fill("nothing"));
    expect([problems.length, refused]).toEqual([100, 150]);
    const large = readHolidayList(`${HEADER}\n${" ".repeat(HOLIDAY_LIST_MAX_CHARACTERS)}`);
    expect(large).toEqual({
      rows: [],
      problems: [{ line: null, detail: "A list has at most 1,000,000 characters." }],
      refused: 1,
    });
  });

  test("an empty list is no error", () => {
    expect(readHolidayList(" \n\n")).toEqual({ rows: [], problems: [], refused: 0 });
    expect(readHolidayList(HEADER)).toEqual({ rows: [], problems: [], refused: 0 });
  });
});

describe("iCalendar", () => {
  test("all-day events are closed days, up to the day before DTEND, with folded lines and escapes", () => {
    const list = ics(
      ...event(
        "DTSTART;VALUE=DATE:20261225",
        "DTEND;VALUE=DATE:20261227",
        "SUMMARY;LANGUAGE=en:Christmas\\, and the",
        "  day after",
      ),
      ...event('dtstart;X="a:b;c";value=date:20280229', "Summary:Leap\\nday"),
      ...event("DTSTART:20270101", "DURATION:P2D"),
    );
    expect(list).toEqual({
      rows: [
        closed("2026-12-25", "Christmas, and the day after"),
        closed("2026-12-26", "Christmas, and the day after"),
        closed("2028-02-29", "Leap day"),
        closed("2027-01-01"),
        closed("2027-01-02"),
      ],
      problems: [],
      refused: 0,
    });
  });

  test("canceled events and other components inside an event are left out", () => {
    const alarm = ["BEGIN:VALARM", "TRIGGER:-P1D", "SUMMARY:Alarm", "END:VALARM"];
    const list = ics(
      ...event("DTSTART;VALUE=DATE:20261225", "STATUS:CANCELLED"),
      ...event("DTSTART;VALUE=DATE:20270101", "SUMMARY:New Year", ...alarm),
      ...["BEGIN:VTODO", "DTSTART;VALUE=DATE:20270501", "END:VTODO"],
    );
    expect(list).toEqual({ rows: [closed("2027-01-01", "New Year")], problems: [], refused: 0 });
  });

  test.each([
    ["an event with a time", ["DTSTART;TZID=Europe/London:20261225T090000"], /has a time/],
    ["an event that repeats", ["DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY"], /repeats/],
    ["an event without a start", ["SUMMARY:Christmas"], /no DTSTART/],
    ["a date that does not exist", ["DTSTART;VALUE=DATE:20260230"], /not valid/],
    ["a length in hours", ["DTSTART;VALUE=DATE:20261225", "DURATION:PT36H"], /not valid/],
    ["an end before its start", ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261225"], /must be later than DTSTART/],
    ["an event of a year", ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20271225"], /more than 31 days/],
  ])("%s is refused at the line it begins on, and the other events are read", (_, lines, detail) => {
    const { rows, problems } = ics(...event("DTSTART;VALUE=DATE:20260101"), ...event(...lines));
    expect(rows).toEqual([closed("2026-01-01")]);
    expect(problems).toEqual([{ line: 6, detail: expect.stringMatching(detail) }]);
  });

  test("a line that is no property is named; a file that is cut or wrongly nested says so", () => {
    expect(ics("no property here").problems).toEqual([{ line: 3, detail: "This is not a line of an iCalendar file." }]);
    expect(readHolidayList("BEGIN:VCALENDAR\nBEGIN:VEVENT").problems).toEqual([{ line: 2, detail: "The file ends too early." }]);
    expect(ics("BEGIN:VEVENT").problems).toEqual([{ line: 4, detail: "END:VCALENDAR has no BEGIN. The rest is not read." }]);
  });

  test("long runs of any sign are read in linear time", () => {
    // In quadratic time, one of these alone would take minutes.
    for (const sign of ['"', ",", ";", ":", " ", "=", "\\"]) {
      const line = `X${sign.repeat(HOLIDAY_LIST_MAX_CHARACTERS - 100)}`;
      expect([ics(line), csv(line)].map(({ rows }) => rows)).toEqual([[], []]);
    }
  });
});
