import type { Timeframe } from "#lib/contract/primitives";
import type { SessionAnswer } from "#lib/domain/calendar";
import { ascending, columnsOf, emptyColumns, joinColumns, type KlineColumns, rowFrom, rowsBetween } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { DAY_S, MINUTE_S, SECOND_MS } from "#lib/units";
import { countText, minuteText, secondText } from "#server/cli/words";
import { Unsure } from "#server/import/failure";
import { knownClock } from "#server/import/formats/clocks";
import { evidenceOf, isDoubtful } from "#server/import/survey/clock";
import type { ImportListing } from "#server/import/survey/identify";
import type { Prepared } from "#server/import/survey/survey";
import type { Series } from "#server/store/history/layers";
import type { Part } from "#server/store/klines/kline-batches";
import type { KlineTable } from "#server/store/klines/kline-store";

/** Klines of one part that are compared with stored ones, two neighbors at a time. */
const COMPARED_MAX_COUNT = 10_000;
/** Common klines before they say anything. */
const COMMON_MIN_COUNT = 30;
/** Moves that are needed to say whether they go the same way. */
const MOVES_MIN_COUNT = 100;
/**
 * How far apart the closes of two sources usually are, as a logarithm of their ratio. Measured on four pairs of sources: the
 * median is at most 0.00007, the 95th percentile at most 0.0002, and 0.2 to 3.5 % of the klines of a year are further apart than this.
 */
const USUAL_DIFFERENCE = 3e-4;
/** The same in moves of the pair from one kline to the next: sources of what moves more differ more. */
const USUAL_MOVES = 3;
/** Share of common klines that may be overwritten by more than that: three times what was measured in the worst year. */
const FAR_MAX_SHARE = 0.1;
/** A constant factor shows where the ratios spread this much less than they are off. */
const FACTOR_MIN_RATIO = 4;
/** Share of moves that go the way of the stored ones: 0.95 and more were measured, 0.5 an hour or a minute off. */
const SAME_WAY_MIN_SHARE = 0.65;
/** Where a move is only a few steps of the price, rounding decides which way it goes. */
const MOVE_MIN_STEPS = 2;

/** A kline that is stored, too: open time in Unix seconds, and both closes. */
interface Common {
  readonly time: number;
  readonly own: number;
  readonly stored: number;
}

const middleOf = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** Moves from one kline to the next, as logarithms. */
function movesOf(rows: readonly Common[], stepS: number): { own: number; stored: number }[] {
  const moves: { own: number; stored: number }[] = [];
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    if (next === undefined || next.time - row.time !== stepS) continue;
    moves.push({ own: Math.log(next.own / row.own), stored: Math.log(next.stored / row.stored) });
  }
  return moves;
}

const examplesOf = (rows: readonly Common[]) =>
  rows
    .slice(0, DOUBT_ROWS_COUNT)
    .map(({ time, own, stored }) => `${secondText(time * SECOND_MS)}  ${own} where ${stored} is stored`);

/** What is doubtful about klines whose times are stored with other prices; null when nothing is. */
function judgeCommon(rows: readonly Common[], stepS: number, digits: number): Doubt | null {
  if (rows.length < COMMON_MIN_COUNT) return null;
  const ratios = rows.map(({ own, stored }) => Math.log(own / stored));
  const level = middleOf(ratios);
  const spread = middleOf(ratios.map((ratio) => Math.abs(ratio - level)));
  const moves = movesOf(rows, stepS);
  const move = middleOf(moves.map(({ stored }) => Math.abs(stored)));
  const step = 10 ** -digits / (rows[0] as Common).stored;
  const usual = Math.max(USUAL_DIFFERENCE, 2 * step);
  const far = rows.filter((_, index) => Math.abs(ratios[index] as number) > Math.max(usual, USUAL_MOVES * move));
  const percent = (share: number) => Number((share * 100).toPrecision(2));
  // Directions, because a few wrong prices would decide a correlation of sizes.
  const known = move > MOVE_MIN_STEPS * step ? moves.filter(({ own, stored }) => own !== 0 && stored !== 0) : [];
  const sameWay = known.filter(({ own, stored }) => own > 0 === stored > 0).length / known.length;
  if (known.length >= MOVES_MIN_COUNT && sameWay < SAME_WAY_MIN_SHARE)
    return {
      reason: `only ${percent(sameWay)} % of ${countText(known.length)} moves go the way of the stored klines of these times: it is another instrument, or its times are not those it states`,
      rows: examplesOf(far.length > 0 ? far : rows),
    };
  if (Math.abs(level) > usual && spread * FACTOR_MIN_RATIO < Math.abs(level))
    return {
      reason: `its prices are those that are stored times ${Number(Math.exp(level).toPrecision(5))}, in ${countText(rows.length)} common klines`,
      rows: examplesOf(rows),
    };
  if (far.length <= rows.length * FAR_MAX_SHARE) return null;
  return {
    reason: `${percent(far.length / rows.length)} % of ${countText(rows.length)} stored klines would be overwritten by more than ${percent(Math.max(usual, USUAL_MOVES * move))} %, which is more than sources differ`,
    rows: examplesOf(far),
  };
}

/** Some klines of a part: their open times, Unix seconds, and closes. */
type Closes = readonly { readonly time: number; readonly close: number }[];

/** Groups of neighbors in a part: `each` klines, every `step` groups. */
function closesOf({ time, close }: KlineColumns, each: number, step: number): Closes {
  const closes: { time: number; close: number }[] = [];
  for (let begin = 0; begin < time.length; begin += each * step)
    for (let row = begin; row < Math.min(begin + each, time.length); row += 1)
      closes.push({ time: time[row] as number, close: close[row] as number });
  return closes;
}

type Store = Pick<KlineTable, "klinesAt">;

async function commonOf(closes: Closes, { ticker, timeframe }: Series, store: Store): Promise<Common[]> {
  const stored = await store.klinesAt(
    ticker,
    timeframe,
    closes.map(({ time }) => time),
  );
  return closes.flatMap(({ time, close }) => {
    const found = stored.get(time);
    return found === undefined ? [] : [{ time, own: close, stored: found.close }];
  });
}

/** Compares a part of a file with what is stored for the same times. */
export async function judgeOverlap(
  { series, klines }: Part,
  digits: number,
  store: Store & Pick<KlineTable, "read">,
): Promise<Doubt | null> {
  const step = Math.max(1, Math.ceil(klines.time.length / COMPARED_MAX_COUNT));
  const sample = closesOf(ascending(klines), 2, step);
  const [first, last] = [sample[0], sample.at(-1)];
  if (first === undefined || last === undefined) return null;
  // Most files go where nothing is stored, which one row shows at once.
  const range = { ...series, from: first.time, to: last.time + 1 };
  if ((await store.read({ ...range, limit: 1, end: "oldest" })).length === 0) return null;
  return judgeCommon(await commonOf(sample, series, store), TIMEFRAME_SECONDS[series.timeframe], digits);
}

/** Klines that are compared with other instruments. */
const LIKENESS_COUNT = 300;

/** The instrument whose stored klines have the prices of these; null when none does. */
export async function likenessOf(
  { series, klines }: Part,
  listings: readonly ImportListing[],
  store: Store,
): Promise<string | null> {
  const step = Math.max(1, Math.floor(klines.time.length / LIKENESS_COUNT));
  const sample = closesOf(klines, 1, step);
  for (const { ticker } of listings) {
    if (ticker === series.ticker) continue;
    const common = await commonOf(sample, { ...series, ticker }, store);
    if (common.length < COMMON_MIN_COUNT) continue;
    const apart = middleOf(common.map((row) => Math.abs(Math.log(row.own / row.stored))));
    if (apart <= USUAL_DIFFERENCE) return ticker;
  }
  return null;
}

/** Rows that show a doubt. */
export const DOUBT_ROWS_COUNT = 3;

/** Why a file is probably not what it seems to be, and rows that show it. */
export interface Doubt {
  readonly reason: string;
  readonly rows: readonly string[];
}

/** Open time in UTC and prices of a kline. */
export function rowText({ time, open, high, low, close }: KlineColumns, row: number): string {
  return `${secondText((time[row] as number) * SECOND_MS)}  ${open[row]}  ${high[row]}  ${low[row]}  ${close[row]}`;
}

/** The error that keeps a doubtful file out. */
export function refusalOf(doubts: readonly Doubt[]): Unsure {
  const reasons = doubts.map(({ reason }) => reason).join("; ");
  return new Unsure(`it is doubtful, nothing of it is stored: ${reasons}. --accept-doubts imports it anyway`);
}

/** Klines further apart than a long weekend do not follow each other. */
const FOLLOWING_MAX_S = 5 * DAY_S;
/** Klines that show a level: those of a day, or as many of a longer timeframe. */
const LEVEL_MAX_COUNT = DAY_S / MINUTE_S;
const LEVEL_MIN_COUNT = 20;
/** A jump from one day to the next is at least this much, as a logarithm; less is a usual day. */
const JUMP_MIN = 0.02;
/** A jump is this many times as far as the pair usually moves in that time: markets jump further than chance lets them. */
const JUMP_MOVES = 8;
/** Makes the median of absolute moves a standard deviation. */
const DEVIATION_OF_MEDIAN = 1.4826;

/** Length of the stretch of klines that shows a level, seconds. */
const spanOf = (timeframe: Timeframe) => Math.max(DAY_S, LEVEL_MIN_COUNT * TIMEFRAME_SECONDS[timeframe]);

/** The klines of the first or last day of a stretch, both ascending, at most LEVEL_MAX_COUNT. */
function dayAt(klines: KlineColumns, timeframe: Timeframe, end: "first" | "last"): KlineColumns {
  const { time } = klines;
  const [first = 0, last = 0] = [time[0], time.at(-1)];
  const spanS = spanOf(timeframe);
  if (end === "first") return rowsBetween(klines, 0, Math.min(rowFrom(time, first + spanS), LEVEL_MAX_COUNT));
  return rowsBetween(klines, Math.max(rowFrom(time, last - spanS + 1), time.length - LEVEL_MAX_COUNT), time.length);
}

/** How far a pair usually moves in a number of klines. */
function usualMove({ close }: KlineColumns, steps: number): number {
  const moves = [...close.subarray(1)].map((price, row) => Math.abs(Math.log(price / (close[row] as number))));
  return DEVIATION_OF_MEDIAN * middleOf(moves) * Math.sqrt(steps);
}

/** A jump between a stored day and one of a file that follow each other; null when there is none. */
function jumpBetween(own: KlineColumns, stored: KlineColumns, side: "before" | "after"): Doubt | null {
  const levels = [own, stored].map(({ close }) => middleOf([...close])) as [number, number];
  const jump = Math.abs(Math.log(levels[0] / levels[1]));
  const steps = own.time.length + stored.time.length;
  const usual = Math.max(usualMove(own, steps), usualMove(stored, steps));
  if (jump <= Math.max(JUMP_MIN, JUMP_MOVES * usual)) return null;
  const percent = Number((Math.abs(levels[0] / levels[1] - 1) * 100).toPrecision(2));
  const [earlier, later] = side === "before" ? [stored, own] : [own, stored];
  return {
    reason: `its level jumps by ${percent} % from the day stored ${side} it: ${levels[0]} where ${levels[1]} is usual`,
    rows: [rowText(earlier, earlier.time.length - 1), rowText(later, 0)],
  };
}

/** Follows the klines of the first and the last day of a file, in any order. */
export function createEnds({ ticker, timeframe }: Series) {
  let first = emptyColumns(0);
  let last = emptyColumns(0);
  const dayOf = (klines: KlineColumns, end: "first" | "last") => dayAt(ascending(klines), timeframe, end);
  return {
    take(klines: KlineColumns): void {
      first = dayOf(joinColumns([first, dayOf(klines, "first")]), "first");
      last = dayOf(joinColumns([last, dayOf(klines, "last")]), "last");
    },
    /** Compares both days with those that are stored before and after. */
    async judge(store: Pick<KlineTable, "read">): Promise<Doubt[]> {
      const [begin, end] = [first.time[0], last.time.at(-1)];
      if (begin === undefined || end === undefined) return [];
      const reach = FOLLOWING_MAX_S + TIMEFRAME_SECONDS[timeframe];
      const series = { ticker, timeframe, limit: LEVEL_MAX_COUNT };
      const far = reach + spanOf(timeframe);
      const [before, after] = [
        columnsOf(await store.read({ ...series, from: begin - far, to: begin, end: "newest" })),
        columnsOf(await store.read({ ...series, from: end + 1, to: end + far, end: "oldest" })),
      ];
      const found = [
        (before.time.at(-1) ?? 0) < begin - reach ? null : jumpBetween(first, dayOf(before, "last"), "before"),
        (after.time[0] ?? Number.POSITIVE_INFINITY) > end + reach ? null : jumpBetween(last, dayOf(after, "first"), "after"),
      ];
      return found.filter((doubt) => doubt !== null);
    },
  };
}

export type CalendarHours = {
  sessionAt(atMs: number): Pick<SessionAnswer, "state" | "nextOpen" | "nextClose">;
};

/** Counts klines in hours in which a calendar is closed. The state is asked once for a session, because rows come in order. */
export function createClosedHours(calendar: CalendarHours, timeframe: Timeframe) {
  const lengthMs = TIMEFRAME_SECONDS[timeframe] * SECOND_MS;
  let count = 0;
  let first: number | null = null;
  const examples: string[] = [];
  let session = { fromMs: 0, untilMs: 0, closed: false };
  /** Whether the market is closed for the whole of a kline. */
  function isClosed(atMs: number): boolean {
    if (atMs < session.fromMs || atMs >= session.untilMs) {
      const { state, nextOpen, nextClose } = calendar.sessionAt(atMs);
      const untilMs = (state === "open" ? nextClose : nextOpen) ?? atMs + lengthMs;
      session = { fromMs: atMs, untilMs, closed: state === "closed" };
    }
    return session.closed && atMs + lengthMs <= session.untilMs;
  }
  return {
    get count() {
      return count;
    },
    /** Open time of the first, Unix seconds; null before there is one. */
    get first() {
      return first;
    },
    /** The first ones, as lines of a report. */
    examples,
    add(klines: KlineColumns): void {
      for (let row = 0; row < klines.time.length; row += 1) {
        const time = klines.time[row] as number;
        if (!isClosed(time * SECOND_MS)) continue;
        if (examples.length < DOUBT_ROWS_COUNT) examples.push(rowText(klines, row));
        count += 1;
        first = Math.min(first ?? time, time);
      }
    },
  };
}

/** Share of the klines of a file that can be in closed hours: with more, they are not what they seem to be. */
const CLOSED_MAX_SHARE = 0.5;

/** Hours of the week, and those of the calendar, in which the market is closed although the file has rows. */
export function createHoursCheck(file: Prepared, calendar: CalendarHours, isGiven: boolean) {
  const { listing, recognition, clock, timeframe, hours } = file;
  const weekly = createClosedHours(hours, timeframe);
  const closed = createClosedHours(calendar, timeframe);
  const evidence = evidenceOf(file);
  let total = 0;
  /** The clock was found by these hours, or Spotwire wrote the times. */
  const isSure = recognition.exported === true || (!("fixed" in recognition.clock) && !isGiven);
  return {
    row: evidence.row,
    take(klines: KlineColumns): void {
      weekly.add(klines);
      closed.add(klines);
      total += klines.time.length;
    },
    /** @param advice asked where there is a doubt: what the operator can do about it */
    async doubts(advice: () => Promise<string>): Promise<Doubt[]> {
      const shown = (count: number) => `${countText(count)} of its ${countText(total)} klines`;
      const at = (time: number) => `the first at ${minuteText(time * SECOND_MS)}`;
      if (closed.first !== null && closed.count > total * CLOSED_MAX_SHARE) {
        const reason = `${shown(closed.count)} are in hours in which the calendar of ${listing.ticker} is closed, ${at(closed.first)}: ${await advice()}`;
        return [{ reason, rows: closed.examples }];
      }
      if (isSure || weekly.first === null || !isDoubtful(knownClock("UTC"), { evidence: evidence.evidence(), hours })) return [];
      const reason = `${shown(weekly.count)} are in hours in which the market is closed, ${at(weekly.first)}, on ${clock.clock.title} (${clock.because}): ${await advice()}`;
      return [{ reason, rows: weekly.examples }];
    },
  };
}
