import { readFileSync } from "node:fs";
import type { Calendar } from "#lib/domain/calendar";

/** One row of a calendar oracle: what an external source says about an instant (Unix milliseconds). */
interface OracleRow {
  readonly id: string;
  readonly calendar: string;
  readonly atMs: number;
  readonly state: "open" | "closed";
  readonly nextOpen: number;
  readonly nextClose: number;
}

/** Reads rows of `id,symbol,calendar,instant_utc,is_open,next_open_utc,next_close_utc,tag`. */
export function readOracle(file: string): OracleRow[] {
  const [, ...lines] = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [id = "", , calendar = "", at = "", open, nextOpen = "", nextClose = ""] = line.split(",");
    return {
      id,
      calendar,
      atMs: Date.parse(at),
      state: open === "1" ? "open" : "closed",
      nextOpen: Date.parse(nextOpen),
      nextClose: Date.parse(nextClose),
    };
  });
}

/** The answers of a calendar in the form of the rows: equal to the rows when the calendar agrees with all of them. */
export function answersTo(rows: readonly OracleRow[], calendarOf: (name: string) => Calendar): unknown[] {
  return rows.map(({ id, calendar, atMs }) => {
    const { state, nextOpen, nextClose } = calendarOf(calendar).sessionAt(atMs);
    return { id, calendar, atMs, state, nextOpen, nextClose };
  });
}
