import type { AssetClass } from "#lib/contract/instrument";
import type { Timeframe } from "#lib/contract/primitives";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { Unsure } from "#server/import/failure";
import { isoDay, knownClocks, type SourceClock, shiftedClock } from "#server/import/formats/clocks";
import type { ClockRule, Recognition } from "#server/import/formats/format";
import { isFiller, type Row } from "#server/import/rows/row";

/** Length of a weekend's trading break: 48 hours, an hour more or less when clocks change; longer breaks include a holiday. */
const WEEKEND_MIN_MS = 44 * HOUR_MS;
const WEEKEND_MAX_MS = 53 * HOUR_MS;
/** Rows that are closer than this belong to one run. */
const PAUSE_MS = 10 * MINUTE_MS;
/** More than a busy source has in decades; of a quiet one, the runs after these are not judged. */
const RUNS_MAX_COUNT = 200_000;
/** Rows that are kept to be compared with stored ones: at most twice as many. */
const SAMPLES_MIN_COUNT = 2_000;

/** A weekend on the clock of the file, milliseconds. */
interface Weekend {
  /** End of the last kline, or the last tick, before it. */
  readonly closeMs: number;
  /** The first row after it. */
  readonly openMs: number;
}

/** A stretch of rows without a pause, on the clock of the file, milliseconds. */
interface Run {
  readonly fromMs: number;
  untilMs: number;
}

/** One row that can be compared with what is stored: the price of a kline is its close, or its open if it is longer than an hour; that of a tick its bid. */
export interface PricedTime {
  readonly timeMs: number;
  readonly price: number;
}

/** Evidence about the clock of a file, from its times. */
export interface ClockEvidence {
  /** True for klines longer than an hour: each is a run, and a part of it may be in closed hours. */
  readonly long: boolean;
  /** Length of a row. */
  readonly rowMs: number;
  readonly weekends: readonly Weekend[];
  readonly runs: readonly Run[];
  /** Rows spread evenly over the file. */
  readonly samples: readonly PricedTime[];
}

/** Collects evidence from rows in the order of the file. @param rowMs length of a row; 0 for ticks */
export function createEvidenceCollector(rowMs: number) {
  const long = rowMs > HOUR_MS;
  const weekends: Weekend[] = [];
  const runs: Run[] = [];
  let samples: PricedTime[] = [];
  let stride = 1;
  let rows = 0;

  function sample(timeMs: number, price: number): void {
    if (rows % stride !== 0) return;
    samples.push({ timeMs, price });
    if (samples.length < 2 * SAMPLES_MIN_COUNT) return;
    samples = samples.filter((_, index) => index % 2 === 0);
    stride *= 2;
  }

  return {
    row(localMs: number, price: number): void {
      const last = runs.at(-1);
      const gapMs = last === undefined ? Number.POSITIVE_INFINITY : localMs - last.untilMs;
      if (!long && last !== undefined && gapMs >= WEEKEND_MIN_MS && gapMs <= WEEKEND_MAX_MS)
        weekends.push({ closeMs: last.untilMs, openMs: localMs });
      if (!long && last !== undefined && gapMs <= PAUSE_MS) last.untilMs = Math.max(last.untilMs, localMs + rowMs);
      else if (runs.length < RUNS_MAX_COUNT) runs.push({ fromMs: localMs, untilMs: localMs + rowMs });
      sample(localMs, price);
      rows += 1;
    },
    evidence: (): ClockEvidence => ({ long, rowMs, weekends, runs, samples }),
  };
}

/** Evidence that was collected with time running backwards. */
function turned({ weekends, runs, samples, ...rest }: ClockEvidence): ClockEvidence {
  return {
    ...rest,
    weekends: weekends.map(({ closeMs, openMs }) => ({ closeMs: -openMs, openMs: -closeMs })).reverse(),
    runs: runs.map(({ fromMs, untilMs }) => ({ fromMs: -untilMs, untilMs: -fromMs })).reverse(),
    samples: samples.map(({ timeMs, price }) => ({ timeMs: -timeMs - rest.rowMs, price })).reverse(),
  };
}

/** Collects evidence from the rows of a file; klines without a quote say nothing. */
export function evidenceOf({
  recognition: { kind },
  timeframe,
  sample: { newestFirst },
}: {
  readonly recognition: Pick<Recognition, "kind">;
  readonly timeframe: Timeframe;
  readonly sample: { readonly newestFirst: boolean };
}) {
  const rowMs = kind === "ticks" ? 0 : TIMEFRAME_SECONDS[timeframe] * SECOND_MS;
  const collector = createEvidenceCollector(rowMs);
  const timeOf = ({ timeMs }: Row) => (newestFirst ? -timeMs - rowMs : timeMs);
  return {
    row(row: Row): void {
      if (kind === "ticks") collector.row(timeOf(row), row.bid);
      else if (!isFiller(row)) collector.row(timeOf(row), rowMs > HOUR_MS ? row.open : row.close);
    },
    evidence: () => (newestFirst ? turned(collector.evidence()) : collector.evidence()),
  };
}

/** Rows this far inside closed hours still match a clock: some feeds begin early or end late. */
const STRAY_MS = 20 * MINUTE_MS;
/** A source that ends this long before the close of a week ends early. */
const EARLY_MS = 2 * STRAY_MS;
/** Times that are compared to see whether two clocks read a run alike. */
const COMPARED_MS = 6 * HOUR_MS;

/** The weekly hours of a market, without its holidays: rows of a holiday say nothing about a clock. */
export function weeklyHours(assetClass: AssetClass): Calendar {
  const definition = assetClass === "metals" ? SEED_CALENDARS.metals : SEED_CALENDARS.forex;
  if (definition?.kind !== "weekly") throw new Error("the seed calendars of forex and metals are weekly");
  return compileCalendar({ ...definition, holidays: [], earlyCloses: {}, lateOpens: {}, coveredUntil: "2199-12-31" }, []);
}

/** Milliseconds of [fromMs, untilMs) in which a market is open. */
export function openMs(hours: Calendar, fromMs: number, untilMs: number): number {
  const sessions = hours.sessionsBetween(fromMs, untilMs) ?? [];
  return sessions.reduce((sum, { openMs: from, closeMs }) => sum + Math.min(closeMs, untilMs) - Math.max(from, fromMs), 0);
}

/** Milliseconds of [fromMs, untilMs) in which a market is closed; the longest stretch. */
function longestClosed(hours: Calendar, fromMs: number, untilMs: number): number {
  let closedMs = 0;
  let at = fromMs;
  for (const { openMs, closeMs } of hours.sessionsBetween(fromMs, untilMs) ?? []) {
    closedMs = Math.max(closedMs, openMs - at);
    at = closeMs;
  }
  return Math.max(closedMs, untilMs - at);
}

/** Which runs of rows a clock puts into closed hours: each is strong evidence against it. */
function runsWhileClosed(clock: SourceClock, { runs, long }: ClockEvidence, hours: Calendar): boolean[] {
  return runs.map(({ fromMs, untilMs }) => {
    if (long) return openMs(hours, clock.toUtcMs(fromMs), clock.toUtcMs(untilMs)) < STRAY_MS;
    if (untilMs - fromMs < STRAY_MS) return false;
    return longestClosed(hours, clock.toUtcMs(fromMs), clock.toUtcMs(untilMs)) >= STRAY_MS;
  });
}

/** The first run that two clocks read differently; undefined when both give the same times for all rows. */
function firstDifference(a: SourceClock, b: SourceClock, { runs }: ClockEvidence): Run | undefined {
  return runs.find(({ fromMs, untilMs }) => {
    for (let at = fromMs; at < untilMs; at += COMPARED_MS) if (a.toUtcMs(at) !== b.toUtcMs(at)) return true;
    return a.toUtcMs(untilMs) !== b.toUtcMs(untilMs);
  });
}

/** On which weekends a clock finds the market closed early on Friday, by about an hour or more. */
function earlyCloses(clock: SourceClock, { weekends }: ClockEvidence, hours: Calendar): boolean[] {
  return weekends.map(({ closeMs }) => {
    const atMs = clock.toUtcMs(closeMs);
    const { state, nextClose } = hours.sessionAt(atMs - 1);
    // Where it is closed, a quote came after the close.
    return state === "open" && nextClose !== null && nextClose - atMs >= EARLY_MS;
  });
}

/** Whether two clocks agree on a Friday's close: it shows that the source quotes until then. */
function agreeOnClose(a: SourceClock, b: SourceClock, { weekends }: ClockEvidence): boolean {
  return weekends.some(({ closeMs }) => a.toUtcMs(closeMs) === b.toUtcMs(closeMs));
}

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

/** The times of a file, and the weekly hours of its market. */
export interface TimedFile {
  readonly evidence: ClockEvidence;
  readonly hours: Calendar;
}

/** How well a clock fits all files. */
type Fit = ReturnType<typeof fitOf>;

function fitOf(clock: SourceClock, files: readonly TimedFile[]) {
  /** Of each file, which runs are in closed hours. */
  const runs = files.map(({ evidence, hours }) => runsWhileClosed(clock, evidence, hours));
  /** Which weekends begin early. */
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

/** An error that names the clocks that fit, if any. Which of them is right only the source can say. */
export function unsureOf(reason: string, clocks: readonly SourceClock[]): Unsure {
  const options = clocks.slice(0, NAMED_MAX_COUNT).map(({ name }) => `--tz ${name}`);
  const named = options.length > 0 ? `: ${options.join(" or ")}` : " with --tz";
  return new Unsure(`${reason}. Set the clock that its source states${named}`);
}

function severalFit(clocks: readonly SourceClock[], files: readonly TimedFile[]): Unsure {
  const [first, second] = clocks;
  const runs = files.flatMap(({ evidence }) => (first && second && firstDifference(first, second, evidence)) ?? []);
  const from = Math.min(...runs.map(({ fromMs }) => fromMs));
  const names = clocks.slice(0, NAMED_MAX_COUNT).map(({ title }) => title);
  const differing = Number.isFinite(from) ? `, and give different times from ${isoDay(from)} on` : "";
  return unsureOf(`${clocks.length} clocks fit its rows, among them ${names.join(" and ")}${differing}`, clocks);
}

/** A server that changed its clock: both, and the day from which the second one applies, on the clock of the file. */
interface Move {
  readonly before: SourceClock;
  readonly after: SourceClock;
  readonly day: string;
}

/** Closed runs from the start up to each run, exclusive. */
function sums(closed: readonly boolean[]): number[] {
  const all = [0];
  for (const one of closed) all.push((all[all.length - 1] as number) + Number(one));
  return all;
}

/** The two clocks that fit one after the other, where no single one does: the change with the fewest runs in closed hours. */
function findMove(fits: readonly Fit[], { runs, weekends }: ClockEvidence, mostClosed: number): Move | null {
  const counted = fits.map((fit) => ({ clock: fit.clock, sums: sums(fit.runs[0] ?? []) }));
  const splits = weekends.map(({ openMs }) => runs.findIndex(({ fromMs }) => fromMs === openMs)).filter((index) => index > 0);
  let best: { move: Move; cost: number } | null = null;
  for (const before of counted)
    for (const after of counted) {
      if (before === after) continue;
      for (const split of splits) {
        const cost = (before.sums[split] as number) + (after.sums[runs.length] as number) - (after.sums[split] as number);
        if (cost > mostClosed || (best !== null && cost >= best.cost)) continue;
        const between = ((runs[split - 1] as Run).untilMs + (runs[split] as Run).fromMs) / 2;
        best = { move: { before: before.clock, after: after.clock, day: isoDay(between) }, cost };
      }
    }
  return best?.move ?? null;
}

function noneFits(fits: readonly Fit[], files: readonly TimedFile[], mostClosed: number): Unsure {
  const [only, ...others] = files;
  const move = only !== undefined && others.length === 0 ? findMove(fits, only.evidence, mostClosed) : null;
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
  if (files.every(({ evidence }) => evidence.runs.length === 0))
    throw unsureOf("its rows do not show their clock: none of them has a quote", []);
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
