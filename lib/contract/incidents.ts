import { z } from "zod";
import { InstantField } from "./portal";
import { IMPACTS, INCIDENT_PARTS } from "./uptime";

const TITLE_MAX_CHARACTERS = 120;
const TEXT_MAX_CHARACTERS = 4_000;

export const IncidentNoteForm = z
  .strictObject({
    title: z
      .string()
      .trim()
      .min(1, "Enter a title.")
      .max(TITLE_MAX_CHARACTERS, `Use at most ${TITLE_MAX_CHARACTERS} characters.`),
    text: z.string().trim().max(TEXT_MAX_CHARACTERS, `Use at most ${TEXT_MAX_CHARACTERS} characters.`),
    impact: z.enum(IMPACTS),
    starts_at: InstantField,
    /** Null while it lasts. */
    ends_at: InstantField.nullable(),
    /** What fails, of a new note: it and what is measured of that part until it ends are one incident. */
    part: z.enum(INCIDENT_PARTS).optional(),
  })
  .refine(({ starts_at, ends_at }) => ends_at === null || Date.parse(starts_at) < Date.parse(ends_at), {
    message: "The end must be later than the start.",
    path: ["ends_at"],
  });
export type IncidentNoteForm = z.infer<typeof IncidentNoteForm>;
