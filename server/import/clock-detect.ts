import { zone } from "#lib/domain/zone";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { UsageError } from "#server/cli/usage-error";
import type { ClockEvidence, Weekend } from "./clock-evidence";
import { isoDay, type KnownClock, knownClocks, type SourceClock } from "./clock-zone";
import { isFileError } from "./failure";

/** Quotes may end this long before the close, and begin this long after the open, and still match a clock. */
const TOLERANCE_MS = 30 * MINUTE_MS;
/** Quotes this far outside market hours still match: some feeds send them. */
const STRAY_MS = 6 * MINUTE_MS;
const FRIDAY_CLOSE_MS = 17 * HOUR_MS;
const FRIDAY = 5;
const SUNDAY = 0;

/** What a weekend costs a clock: a quote while the market is closed is strong evidence against it, a missing hour weak. */
const IMPOSSIBLE = 3;
const FAR = 2;
/** Quotes rarely end an hour before Friday's close; a missing first hour is common while US and EU clocks disagree. */
const EARLY_CLOSE = 1.5;
const LATE_OPEN = 1;
/** Highest average cost at which a clock is accepted. */
const COST_MAX_AVERAGE = 1;
/** Weekends that must fit only another clock before the server counts as having changed its clock. */
const MOVED_MIN_WEEKENDS = 3;
/** Highest cost of two successive clocks for each weekend that a single clock does not fit. */
const MOVED_MAX_COST = 0.5;

/** The clock of a file and how reliable it is. */
export interface DetectedClock {
  readonly clock: SourceClock;
  /** Why this clock was chosen, for the operator. */
  readonly because: string;
  /** True when nothing in the file supports it. */
  readonly assumed: boolean;
}

/** The expected clock of a file, before its times are examined. */
export interface ClockRule {
  /** Tried in this order; all other known clocks come after them. */
  readonly likely: readonly KnownClock[];
  /** Used when the times do not identify a clock; null where no clock can be assumed. */
  readonly documented: KnownClock | null;
}

/** What each side of a weekend costs a clock. */
interface Judge {
  close(clock: SourceClock, weekend: Weekend): number;
  open(clock: SourceClock, weekend: Weekend): number;
  /** The sum of both sides. */
  cost(clock: SourceClock, weekend: Weekend): number;
}

function lateness(lateMs: number, odd: number): number {
  if (lateMs < -STRAY_MS) return IMPOSSIBLE;
  if (lateMs <= TOLERANCE_MS) return 0;
  return lateMs <= HOUR_MS + TOLERANCE_MS ? odd : FAR;
}

/** @param sundayOpenMs wall time in New York at which the market opens on Sunday */
function createJudge(sundayOpenMs: number): Judge {
  const newYork = zone("America/New_York");
  const wall = (clock: SourceClock, localMs: number, day: number): number => {
    const atMs = newYork.toLocal(clock.toUtcMs(localMs));
    return new Date(atMs).getUTCDay() === day ? atMs % DAY_MS : Number.NaN;
  };
  const close = (clock: SourceClock, { closeMs }: Weekend): number => {
    const time = wall(clock, closeMs, FRIDAY);
    return Number.isNaN(time) ? IMPOSSIBLE : lateness(FRIDAY_CLOSE_MS - time, EARLY_CLOSE);
  };
  const open = (clock: SourceClock, { openMs }: Weekend): number => {
    const time = wall(clock, openMs, SUNDAY);
    return Number.isNaN(time) ? IMPOSSIBLE : lateness(time - sundayOpenMs, LATE_OPEN);
  };
  return { close, open, cost: (clock, weekend) => close(clock, weekend) + open(clock, weekend) };
}

const weekendsMatch = (count: number) =>
  count === 1 ? "the weekend in the file matches" : `${count} weekends in the file match`;

/** Two successive clocks, and the weekend of the change. */
interface Move {
  readonly before: SourceClock;
  readonly after: SourceClock;
  readonly at: Weekend;
  readonly cost: number;
}

/** The weekend of the change from `before` to `after` with the lowest cost. */
function cheapestMove(before: SourceClock, after: SourceClock, weekends: readonly Weekend[], judge: Judge): Move | null {
  let cost = weekends.reduce((sum, weekend) => sum + judge.cost(after, weekend), 0);
  let best: Move | null = null;
  for (const weekend of weekends) {
    cost += judge.close(before, weekend) - judge.close(after, weekend);
    if (best === null || cost < best.cost) best = { before, after, at: weekend, cost };
    cost += judge.open(before, weekend) - judge.open(after, weekend);
  }
  return best;
}

/** Rejects a file whose clock changes, naming both clocks in the syntax of --tz. */
function refuseMoved(clocks: readonly SourceClock[], taken: SourceClock, weekends: readonly Weekend[], judge: Judge): void {
  const misfits = weekends.filter((weekend) => judge.cost(taken, weekend) >= IMPOSSIBLE).length;
  if (misfits < MOVED_MIN_WEEKENDS) return;
  const moves = clocks
    .filter((clock) => clock !== taken)
    .flatMap((other) => [cheapestMove(other, taken, weekends, judge), cheapestMove(taken, other, weekends, judge)])
    .filter((move) => move !== null);
  const move = moves.reduce<Move | null>((best, next) => (best === null || next.cost < best.cost ? next : best), null);
  if (move === null || move.cost >= MOVED_MAX_COST * misfits) return;
  const day = isoDay((move.at.closeMs + move.at.openMs) / 2);
  throw new UsageError(
    `the clock of this file changes: ${move.before.title} fits until ${day}, ${move.after.title} from then on. ` +
      `Set both: --tz "${move.before.name}..${day},${move.after.name}"`,
  );
}

function fromWeekends(clocks: readonly SourceClock[], weekends: readonly Weekend[], judge: Judge): DetectedClock | null {
  const total = (clock: SourceClock) => weekends.reduce((sum, weekend) => sum + judge.cost(clock, weekend), 0);
  const costs = clocks.map((clock) => ({ clock, cost: total(clock) }));
  const best = costs.reduce((a, b) => (b.cost < a.cost ? b : a));
  refuseMoved(clocks, best.clock, weekends, judge);
  if (best.cost / weekends.length > COST_MAX_AVERAGE) return null;
  const fitting = weekends.filter((weekend) => judge.cost(best.clock, weekend) === 0).length;
  const exact = fitting === weekends.length ? "" : `, ${fitting} of them to the minute`;
  return { clock: best.clock, because: `${weekendsMatch(weekends.length)} it${exact}`, assumed: false };
}

/** The market is quietest in the hour after New York's 17:00. */
function fromQuietHour(clocks: readonly SourceClock[], { activity, span }: ClockEvidence): DetectedClock | null {
  if (activity === null || span === null) return null;
  const quietest = activity.indexOf(Math.min(...activity));
  const newYork = zone("America/New_York");
  const clock = clocks.find((candidate) => {
    const hourMs = Math.floor(span.firstMs / DAY_MS) * DAY_MS + quietest * HOUR_MS;
    return Math.floor(newYork.toLocal(candidate.toUtcMs(hourMs)) / HOUR_MS) % 24 === FRIDAY_CLOSE_MS / HOUR_MS;
  });
  if (clock === undefined) return null;
  return { clock, because: `no weekend in the file, but its quietest hour follows 17:00 in New York`, assumed: false };
}

/**
 * Detects the clock of a file from its weekends (17:00 New York on Friday to `sundayOpenMs` on Sunday), else from its
 * quietest hour, else uses the documented one.
 * @throws ImportFailure when the clock changes within the file, or cannot be detected and none is documented.
 */
export function detectClock(evidence: ClockEvidence, rule: ClockRule, sundayOpenMs: number): DetectedClock {
  const clocks = knownClocks(rule.likely);
  const { weekends } = evidence;
  const found = weekends.length > 0 ? fromWeekends(clocks, weekends, createJudge(sundayOpenMs)) : fromQuietHour(clocks, evidence);
  if (found !== null) return found;
  const why =
    weekends.length > 0 ? `${weekendsMatch(weekends.length)} no known clock` : "the file is too short to detect its clock";
  const documented = clocks.find(({ name }) => name === rule.documented);
  if (documented === undefined)
    throw new UsageError(`${why}: set it with --tz, for example --tz EET for most MetaTrader servers`);
  return { clock: documented, because: `${why}; this is the documented clock of the format`, assumed: true };
}

/** A warning when the weekends contradict `clock`, null when they match it. For sources that state their clock. */
export function doubtClock(evidence: ClockEvidence, clock: SourceClock, sundayOpenMs: number): string | null {
  const judge = createJudge(sundayOpenMs);
  const { weekends } = evidence;
  const wrong = weekends.filter((weekend) => judge.cost(clock, weekend) >= IMPOSSIBLE).length;
  if (wrong === 0 || wrong * 2 < weekends.length) return null;
  let better = "another";
  try {
    better = detectClock(evidence, { likely: ["NY+7", "EET"], documented: null }, sundayOpenMs).clock.name;
  } catch (error) {
    if (!isFileError(error)) throw error;
  }
  return `${wrong} of ${weekends.length} weekends do not fit ${clock.title}; ${better} would fit better. Set --tz ${better === "another" ? "…" : better} if the times are not ${clock.name}`;
}
