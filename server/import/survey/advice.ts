import { Unsure } from "#server/import/failure";
import type { DetectedClock } from "./clock";
import { hoursOff } from "./stored-clock";
import { clockAsWritten, type Prepared, type SurveyContext } from "./survey";

/** The clock that the times of a file fit as they are written, where it is not the one that they are read on. */
async function otherClock(file: Prepared, context: SurveyContext): Promise<DetectedClock | Error> {
  const found = await clockAsWritten(file, context);
  if (found instanceof Error || found.clock.name !== file.clock.clock.name) return found;
  return new Error("no other clock fits them better, and it may be of another instrument");
}

const writtenTimes = ({ recognition: { layout } }: Prepared) =>
  layout?.zoned === true ? "read as they are written, without their offsets, its times" : "its times";

const fitting = (file: Prepared, { clock: { title, name } }: DetectedClock) =>
  `${writtenTimes(file)} fit ${title}: set it with --tz ${name}`;

/**
 * What an operator can do about a file with rows in closed hours. It names the clocks on which none are, never the one that the file states:
 * with that one, the same hours would be stored.
 */
export async function clockAdvice(file: Prepared, context: SurveyContext): Promise<string> {
  if (file.recognition.layout === null)
    return "its times are UTC, and their day is that of its path: check it, or set it with --date or --months";
  const found = await otherClock(file, context);
  if (!(found instanceof Error)) return fitting(file, found);
  if (found instanceof Unsure) return `${writtenTimes(file)} do not show their clock: ${found.message}`;
  return `${writtenTimes(file)} fit no clock: ${found.message}. Correct the file`;
}

/**
 * Compares the beginning of a file with what is stored, where the file or the operator states its clock.
 * @returns why the clock is doubtful, and what to do; null when nothing speaks against it
 */
export async function statedDoubt(file: Prepared, context: SurveyContext): Promise<string | null> {
  const { evidence, clock, recognition, timeframe, listing } = file;
  const { store } = context;
  if (store === null) return null;
  const rows = { kind: recognition.kind, timeframe };
  const hours = await hoursOff(evidence.samples, rows, (...asked) => store.klinesAt(listing.ticker, ...asked));
  if (hours === null) return null;
  const off = `${Math.abs(hours)} ${Math.abs(hours) === 1 ? "hour" : "hours"} ${hours > 0 ? "later" : "earlier"}`;
  const found = await otherClock(file, context);
  // Others may fit by their hours, as the stated one does.
  const advice =
    found instanceof Error ? "ask its source for the clock of its times, and set it with --tz" : fitting(file, found);
  return `the same prices are stored ${off} than its rows say on ${clock.clock.title} (${clock.because}): ${advice}`;
}
