import { z } from "zod";
import type { CalendarDefinition } from "#lib/domain/calendar";

const WallTime = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?|24:00)$/, "must be HH:MM or HH:MM:SS, 24:00 for the end of a day");
const LocalDate = z.iso.date();
const Seconds = z.int().min(0);

const Segment = z.object({
  day: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5), z.literal(6)]),
  open: WallTime,
  close: WallTime,
});

/** A calendar as it stands in the database, where an operator edits it: checked before it is believed. */
export const CalendarDefinitionSchema: z.ZodType<CalendarDefinition> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("weekly"),
    zone: z.string().min(1),
    week: z.array(Segment),
    holidays: z.array(LocalDate),
    earlyCloses: z.record(LocalDate, WallTime),
    lateOpens: z.record(LocalDate, WallTime),
    coveredUntil: LocalDate,
  }),
  z.object({ kind: z.literal("always") }),
  z.object({ kind: z.literal("never") }),
  z.object({ kind: z.literal("cycle"), anchorS: Seconds, openS: Seconds, closedS: Seconds }),
]);
