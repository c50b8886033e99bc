import { CalendarException, EXCEPTIONS_MAX_COUNT } from "#lib/contract/calendar";
import { validate } from "#lib/contract/validate";
import { countText } from "../../portal/numbers";
import { readEvents } from "./ics";

/** Maximum size of a list, in characters; a file may have as many bytes. Public lists of a decade have a tenth of it. */
export const HOLIDAY_LIST_MAX_CHARACTERS = 1_000_000;
/** Lines with an error that are listed; the rest is counted. */
const PROBLEMS_MAX_COUNT = 100;
const CSV_HEADER = "date,kind,time,name";

/** Why a line was not read; `line` counts from 1, and is null when the error is about the whole list. */
interface ListProblem {
  readonly line: number | null;
  readonly detail: string;
}

/** What was read from a list. */
interface HolidayList {
  readonly rows: readonly CalendarException[];
  /** The first PROBLEMS_MAX_COUNT, in order. */
  readonly problems: readonly ListProblem[];
  /** How many lines have an error. */
  readonly refused: number;
}

/** Collects valid rows; a repeated row is read once, and one that contradicts an earlier line is an error. */
function createCollector() {
  const rows: CalendarException[] = [];
  const problems: ListProblem[] = [];
  const byDate = new Map<string, { line: number; row: CalendarException }[]>();
  let refused = 0;
  let full = false;

  function refuse(line: number | null, detail: string): void {
    refused += 1;
    if (problems.length < PROBLEMS_MAX_COUNT) problems.push({ line, detail });
  }

  function take(line: number, value: unknown): void {
    const validated = validate(CalendarException, value);
    if ("data" in validated) takeRow(line, validated.data);
    else refuse(line, validated.refusals[0].detail);
  }

  function takeRow(line: number, row: CalendarException): void {
    const there = byDate.get(row.date) ?? [];
    if (there.some((other) => other.row.kind === row.kind && other.row.time === row.time)) return;
    const against = there.find(({ row: { kind } }) => kind === row.kind || kind === "closed" || row.kind === "closed");
    if (against !== undefined) refuse(line, `${row.date} contradicts line ${against.line}.`);
    else if (rows.length < EXCEPTIONS_MAX_COUNT) {
      rows.push(row);
      byDate.set(row.date, [...there, { line, row }]);
    } else if (!full) {
      full = true;
      refuse(line, `The list has more than ${countText(EXCEPTIONS_MAX_COUNT)} rows. From this line on, new rows are not read.`);
    }
  }

  return { refuse, take, result: (): HolidayList => ({ rows, problems, refused }) };
}

type Collector = ReturnType<typeof createCollector>;

/** The trimmed cells of a line of CSV (RFC 4180); null when a quote is in the wrong place, or not closed on the line. */
function cellsOf(line: string): readonly string[] | null {
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;
  const cells: string[] = [];
  for (;;) {
    const found = cell.exec(line);
    if (found === null) return null;
    const [, quoted, plain, end] = found;
    cells.push((quoted?.replaceAll('""', '"') ?? plain ?? "").trim());
    if (end === "") return cells;
  }
}

function readCsv(lines: readonly string[], { refuse, take }: Collector): void {
  const header = lines.findIndex((line) => line.trim() !== "");
  const head = cellsOf(lines[header] ?? "")?.join(",");
  if (head?.toLowerCase() !== CSV_HEADER) {
    refuse(header + 1, `A list begins with the line ${CSV_HEADER}, an iCalendar file with BEGIN:VCALENDAR.`);
    return;
  }
  for (const [index, line] of lines.entries()) {
    if (index <= header || line.trim() === "") continue;
    const cells = cellsOf(line);
    if (cells === null) refuse(index + 1, "A quotation mark is in the wrong place.");
    else if (cells.length !== CSV_HEADER.split(",").length) refuse(index + 1, `A line has four cells: ${CSV_HEADER}.`);
    else {
      const [date, kind = "", time, name] = cells;
      take(index + 1, { date, kind: kind.toLowerCase().replaceAll(/[ -]/g, "_"), time, name });
    }
  }
}

function readIcs(lines: readonly string[], { refuse, take }: Collector): void {
  for (const event of readEvents(lines)) {
    if ("detail" in event) refuse(event.line, event.detail);
    else for (const date of event.dates) take(event.line, { date, kind: "closed", time: "", name: event.name });
  }
}

/** Reads a list of holidays: CSV with the header `date,kind,time,name`, or iCalendar, whose all-day events are closed days. */
export function readHolidayList(text: string): HolidayList {
  const collector = createCollector();
  if (text.length > HOLIDAY_LIST_MAX_CHARACTERS) {
    collector.refuse(null, `A list has at most ${countText(HOLIDAY_LIST_MAX_CHARACTERS)} characters.`);
    return collector.result();
  }
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const first = lines.find((line) => line.trim() !== "");
  if (first === undefined) return collector.result();
  if (first.trim().toUpperCase() === "BEGIN:VCALENDAR") readIcs(lines, collector);
  else readCsv(lines, collector);
  return collector.result();
}
