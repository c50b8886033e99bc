import type { Calendar } from "#lib/domain/calendar";
import { HOUR_MS } from "#lib/units";
import type { ClockEvidence } from "./clock-evidence";
import { agreeOnClose, earlyCloses, firstDifference, runsWhileClosed } from "./clock-judge";
import { type ClosedRuns, findMove } from "./clock-moved";
import { isoDay, type KnownClock, knownClocks, type SourceClock, shiftedClock } from "./clock-zone";
import { Unsure } from "./failure";

/** Of this many runs in a file, one may be in closed hours although the clock is right. */
const RUNS_PER_STRAY = 100;
/** How many more runs in closed hours another clock needs to be wrong, where the best one has some. */
const STRAYS_MAX_RATIO = 3;
/**
 * Share of the runs of rows of an hour and more that one quote after each close can put into closed hours. Gold of two brokers has
 * up to 0.42, in the daily break; an hour off it is all of them.
 */
const LONG_STRAYS_MAX_SHARE = 0.6;
/** Clocks that an error names. */
const NAMED_MAX_COUNT = 3;

/** The clock of a file, and why it was chosen, for the operator. */
export interface DetectedClock {
  readonly clock: SourceClock;
  readonly because: string;
}

/** The expected clock of a file, before its times are examined. */
export interface ClockRule {
  /** Tried in this order, then all other known clocks. Of clocks that give the same times, the first one is named. */
  readonly likely: readonly KnownClock[];
}

/** The times of a file, and the weekly hours of its market. */
export interface TimedFile {
  readonly evidence: ClockEvidence;
  readonly hours: Calendar;
}

/** How well a clock fits all files. */
interface Fit {
  readonly clock: SourceClock;
  /** Of each file, which runs are in closed hours. */
  readonly runs: readonly (readonly boolean[])[];
  readonly closed: number;
  /** Which weekends begin early, and how many. */
  readonly earlyOn: readonly boolean[];
  readonly early: number;
}

function fitOf(clock: SourceClock, files: readonly TimedFile[]): Fit {
  const runs = files.map(({ evidence, hours }) => runsWhileClosed(clock, evidence, hours));
  const earlyOn = files.flatMap(({ evidence, hours }) => earlyCloses(clock, evidence, hours));
  return { clock, runs, closed: runs.flat().filter(Boolean).length, earlyOn, early: earlyOn.filter(Boolean).length };
}

/** The first of each group of clocks that give the same times for all rows. */
export function distinctClocks(clocks: readonly SourceClock[], files: readonly Pick<TimedFile, "evidence">[]): SourceClock[] {
  const found: SourceClock[] = [];
  const same = (a: SourceClock, b: SourceClock) => files.every(({ evidence }) => firstDifference(a, b, evidence) === undefined);
  for (const clock of clocks) if (!found.some((other) => same(clock, other))) found.push(clock);
  return found;
}

/**
 * Whether the weekends decide between two clocks that both keep all rows in open hours. No source ends an hour early on a
 * Friday if it quotes to the close on others; many open an hour late on a Sunday while the clocks of Europe and the United
 * States disagree, at the midnight of their server.
 */
function weekendsRefute(rival: Fit, best: Fit, files: readonly TimedFile[]): boolean {
  const quotesToClose = files.some(({ evidence }) => agreeOnClose(best.clock, rival.clock, evidence));
  // A holiday is early on both.
  const isWorse = (one: Fit, other: Fit) => one.earlyOn.some((early, weekend) => early && !other.earlyOn[weekend]);
  return isWorse(rival, best) && !isWorse(best, rival) && quotesToClose;
}

/** An error that names the clocks to choose from. */
export function unsureOf(reason: string, clocks: readonly SourceClock[]): Unsure {
  const options = clocks.slice(0, NAMED_MAX_COUNT).map(({ name }) => `--tz ${name}`);
  return new Unsure(
    `${reason}. Set the clock that applies, ${options.length > 0 ? options.join(" or ") : "for example --tz EET"}`,
  );
}

function severalFit(clocks: readonly SourceClock[], files: readonly TimedFile[]): Unsure {
  const [first, second] = clocks;
  const runs = files.flatMap(({ evidence }) => (first && second && firstDifference(first, second, evidence)) ?? []);
  const from = Math.min(...runs.map(({ fromMs }) => fromMs));
  const names = clocks.slice(0, NAMED_MAX_COUNT).map(({ title }) => title);
  const differing = Number.isFinite(from) ? `, and give different times from ${isoDay(from)} on` : "";
  return unsureOf(`${clocks.length} clocks fit its rows, among them ${names.join(" and ")}${differing}`, clocks);
}

function noneFits(fits: readonly Fit[], files: readonly TimedFile[], mostClosed: number): Unsure {
  const [only, ...others] = files;
  const closed = fits.map(({ clock, runs }): ClosedRuns => ({ clock, closed: runs[0] ?? [] }));
  const move = only !== undefined && others.length === 0 ? findMove(closed, only.evidence, mostClosed) : null;
  if (move === null)
    return unsureOf("no known clock fits its rows: on each, some are in hours in which the market is closed", []);
  return new Unsure(
    `the clock of this file changes: ${move.before.title} fits until ${move.day}, ${move.after.title} from then on. ` +
      `Set both: --tz "${move.before.name}..${move.day},${move.after.name}"`,
  );
}

/**
 * Runs that the right clock may put into closed hours though another has none: of longer klines, one quote after a close makes
 * a whole row of closed time. The weekends then decide, or the operator.
 */
function straysOf(files: readonly TimedFile[], mostClosed: number): number {
  return files.some(({ evidence }) => evidence.rowMs >= HOUR_MS) ? Math.max(1, mostClosed) : 0;
}

/**
 * The clock of files of one source, from the hours in which their market is closed. It counts only if every other known clock,
 * and the same one an hour earlier or later, puts rows into closed hours.
 * @throws Unsure when several clocks fit, or none does.
 */
export function detectClock(files: readonly TimedFile[], rule: ClockRule): DetectedClock {
  const fits = distinctClocks(knownClocks(rule.likely), files).map((clock) => fitOf(clock, files));
  const least = Math.min(...fits.map(({ closed }) => closed));
  const mostClosed = Math.floor(files.reduce((sum, { evidence }) => sum + evidence.runs.length, 0) / RUNS_PER_STRAY);
  if (least > mostClosed) throw noneFits(fits, files, mostClosed);
  const possible = ({ closed }: Fit) => closed <= Math.max(least * STRAYS_MAX_RATIO, straysOf(files, mostClosed));
  const [best, ...rivals] = fits.filter(possible).sort((a, b) => a.early - b.early || a.closed - b.closed);
  if (best === undefined) throw new Error("the clock with the fewest runs in closed hours is possible");
  const open = rivals.filter((rival) => !weekendsRefute(rival, best, files));
  if (open.length > 0)
    throw severalFit(
      [best, ...open].map(({ clock }) => clock),
      files,
    );
  const shifted = [-HOUR_MS, HOUR_MS].map((ms) => fitOf(shiftedClock(best.clock, ms), files));
  if (shifted.some(possible))
    throw unsureOf(`${best.clock.title} fits its rows, but an hour more or less fits them too`, [best.clock]);
  return { clock: best.clock, because: "on any other, rows would be in hours in which the market is closed" };
}

/** Whether a clock puts more runs of a file into closed hours than some stray quotes explain. */
export function isClosedOn(clock: SourceClock, file: TimedFile): boolean {
  const closed = runsWhileClosed(clock, file.evidence, file.hours).filter(Boolean).length;
  return closed > file.evidence.runs.length / RUNS_PER_STRAY;
}

/** Whether a clock that a file or the operator states is doubtful by the hours in which its market is closed. */
export function isDoubtful(clock: SourceClock, file: TimedFile): boolean {
  const closed = runsWhileClosed(clock, file.evidence, file.hours).filter(Boolean).length;
  const { rowMs, runs } = file.evidence;
  return closed > runs.length * (rowMs >= HOUR_MS ? LONG_STRAYS_MAX_SHARE : 1 / RUNS_PER_STRAY);
}
