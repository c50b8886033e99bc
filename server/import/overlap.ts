import { ascending, type KlineColumns } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import type { Series } from "#lib/history/layers";
import type { Part } from "#lib/market/kline-batches";
import type { KlineTable } from "#lib/market/kline-store";
import { SECOND_MS } from "#lib/units";
import { countText } from "#server/cli/words";
import { DOUBT_ROWS_COUNT, type Doubt } from "./doubt";
import type { ImportListing } from "./identify";

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
    .map(
      ({ time, own, stored }) => `${new Date(time * SECOND_MS).toISOString().slice(0, 19)}Z  ${own} where ${stored} is stored`,
    );

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
