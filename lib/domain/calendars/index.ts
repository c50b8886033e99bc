import type { CalendarDefinition } from "#lib/domain/calendar";
import { DAY_S } from "#lib/units";
import { forex } from "./forex";
import { metals } from "./metals";

/** The calendars a new database is seeded with, by name; an operator edits them there. */
export const SEED_CALENDARS: Readonly<Record<string, CalendarDefinition>> = {
  forex,
  metals,
  /** Ordinary tickers of the sandbox. */
  always: { kind: "always" },
  /** TESTCLOSED. */
  never: { kind: "never" },
  /** TESTFLIP: open for the first two of every four minutes. */
  flip: { kind: "cycle", anchorS: 0, openS: 120, closedS: 120 },
  /** TESTLATE, TESTNOTREADY: opened at 2026-01-01T00:00:00Z and never closes. */
  late: { kind: "cycle", anchorS: 1_767_225_600, openS: DAY_S, closedS: 0 },
};
