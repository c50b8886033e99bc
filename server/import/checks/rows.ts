import type { Timeframe } from "#lib/contract/primitives";
import type { KlineColumns } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { DAY_S, HOUR_S, SECOND_MS } from "#lib/units";
import { countText, minuteText, secondText } from "#server/cli/words";
import type { Row } from "#server/import/rows/row";
import type { claimsOf } from "#server/import/survey/decide";
import { DOUBT_ROWS_COUNT, type Doubt } from "./doubts";

type Claims = ReturnType<typeof claimsOf>;

/** A spread of a larger share of the price is of another unit, or of an hour in which nobody quotes. */
const SPREAD_MAX_SHARE = 0.005;
/** Share of the spreads that may be larger. */
const LARGE_MAX_SHARE = 0.01;
/** No spread is as large a share of the price. */
const SPREAD_END_SHARE = 0.05;
/** Share of the rows that may repeat a time with other prices, as the last one of each page of an API does. */
const REPEATED_MAX_SHARE = 0.01;
/** Ticks before their times say anything, and how many of them have one time at most. */
const TICKS_MIN_COUNT = 20;
const TICKS_PER_TIME_MAX = 20;
/** Steps one after the other that are as long as those of a longer timeframe: fewer are gaps. */
const SAME_MIN_STEPS = 20;
/** Sparse klines are closer together. */
const LONGER_MIN_LENGTHS = 5;
/** The same of steps of a day and more, between which there are weekends. */
const DAYS_MIN_STEPS = 5;
/** Steps of days are an hour shorter when a clock changes. */
const DAY_MIN_S = DAY_S - HOUR_S;

const textOf = ({ timeMs, open, high, low, close }: Row, line: number) =>
  `line ${line}: ${secondText(timeMs)}  ${open}  ${high}  ${low}  ${close}`;

/** Against floating-point noise. */
const NOISE = 1e-6;

/**
 * Finds, in all rows of klines, spreads and volumes of another unit than the first ones, and rows that repeat a time with other
 * prices.
 */
export function createRowChecks({ spreadDigits, priceDigits, quotesEnd }: Claims) {
  const pricePower = Number(`1e${priceDigits ?? 0}`);
  const power = Number(`1e${spreadDigits ?? 0}`);
  const spread = { known: 0, large: 0, impossible: 0, examples: [] as string[] };
  const broken = { prices: 0, spreads: 0, volumes: 0, examples: [] as string[] };
  const isBroken = (units: number) => Math.abs(units - Math.round(units)) > NOISE;
  let rows = 0;
  const repeated = { rows: 0, examples: [] as string[] };
  const last = { timeMs: Number.NaN, open: Number.NaN, high: Number.NaN, low: Number.NaN, close: Number.NaN };
  return {
    row(row: Row, line: number): void {
      rows += 1;
      if (row.timeMs === last.timeMs) {
        const isSame = row.open === last.open && row.high === last.high && row.low === last.low && row.close === last.close;
        if (!isSame) {
          repeated.rows += 1;
          if (repeated.examples.length < DOUBT_ROWS_COUNT) repeated.examples.push(textOf(row, line));
        }
      }
      last.timeMs = row.timeMs;
      last.open = row.open;
      last.high = row.high;
      last.low = row.low;
      last.close = row.close;
      if (quotesEnd !== null && (row.tickVolume >= quotesEnd || row.tickVolume % 1 > 0)) {
        broken.volumes += 1;
        if (broken.examples.length < DOUBT_ROWS_COUNT) broken.examples.push(`line ${line}: a volume of ${row.tickVolume}`);
      }
      if (priceDigits !== null && isBroken(row.close * pricePower)) broken.prices += 1;
      if (!(row.spread >= 0)) return;
      const units = row.spread * power;
      if (spreadDigits !== null && isBroken(units)) {
        broken.spreads += 1;
        if (broken.examples.length < DOUBT_ROWS_COUNT)
          broken.examples.push(`line ${line}: a spread of ${Number(units.toPrecision(6))}`);
      }
      spread.known += 1;
      if (row.spread <= row.close * SPREAD_MAX_SHARE) return;
      spread.large += 1;
      if (row.spread > row.close * SPREAD_END_SHARE) spread.impossible += 1;
      if (spread.examples.length < DOUBT_ROWS_COUNT)
        spread.examples.push(`line ${line}: ${row.spread} at a price of ${row.close}`);
    },
    doubts(): Doubt[] {
      const doubts: Doubt[] = [];
      if (repeated.rows > rows * REPEATED_MAX_SHARE)
        doubts.push({
          reason: `${countText(repeated.rows)} rows repeat the time of the row before with other prices: a column of the time of day is not read, or they are of several instruments`,
          rows: repeated.examples,
        });
      if (broken.prices > 0)
        doubts.push({
          reason: `its spreads were read as points of ${priceDigits} decimals, those of its first prices, and ${countText(broken.prices)} later prices have more: say it with --point-digits`,
          rows: [],
        });
      if (broken.spreads + broken.volumes > 0) {
        const what = broken.spreads > 0 ? "spreads" : "volumes";
        const options =
          broken.spreads > 0 ? "--spread points, --spread pips or --spread price" : "--volume ticks or --volume real";
        const reason = `its first ${what} are whole numbers, and ${countText(broken.spreads + broken.volumes)} later ones are of another kind: say what they are with ${options}`;
        doubts.push({ reason, rows: broken.examples });
      }
      if (spread.impossible > 0 || spread.large > spread.known * LARGE_MAX_SHARE)
        doubts.push({
          reason: `${countText(spread.large)} of ${countText(spread.known)} spreads are more than ${SPREAD_MAX_SHARE * 100} % of the price: say what they are in with --spread points, --spread pips or --spread price`,
          rows: spread.examples,
        });
      return doubts;
    },
  };
}

/** Finds ticks of which many share each time: a part of their time is not read. */
export function createTickCheck() {
  let [ticks, times, lastMs] = [0, 0, Number.NaN];
  return {
    row({ timeMs }: Row): void {
      ticks += 1;
      if (timeMs !== lastMs) times += 1;
      lastMs = timeMs;
    },
    doubts(): Doubt[] {
      if (ticks < TICKS_MIN_COUNT || times * TICKS_PER_TIME_MAX > ticks) return [];
      const reason = `its ${countText(ticks)} ticks have only ${countText(times)} times: a part of the time is not read, or was rounded`;
      return [{ reason, rows: [] }];
    },
  };
}

/** Finds klines of a longer timeframe behind those of a file: they would be stored as if they were short. */
export function createStepCheck(timeframe: Timeframe) {
  const lengthS = TIMEFRAME_SECONDS[timeframe];
  const isLonger = (stepS: number) => stepS >= LONGER_MIN_LENGTHS * lengthS;
  let lastS = Number.NaN;
  let lastStepS = Number.NaN;
  let [same, days] = [0, 0];
  let fromS: number | null = null;
  return {
    /** The next klines of the file, in its order. */
    take({ time }: KlineColumns): void {
      if (fromS !== null) return;
      for (const at of time) {
        const step = Math.abs(at - lastS);
        same = step === lastStepS ? same + 1 : 1;
        days = lengthS < DAY_S && step >= DAY_MIN_S ? days + 1 : 0;
        lastS = at;
        lastStepS = step;
        const run = same >= SAME_MIN_STEPS && isLonger(step) ? same : days >= DAYS_MIN_STEPS ? days : 0;
        if (run === 0) continue;
        fromS = at - run * step;
        return;
      }
    },
    doubts(): Doubt[] {
      if (fromS === null) return [];
      const reason = `its klines are ${timeframe}, but from about ${minuteText(fromS * SECOND_MS)} on its rows are as far apart as those of a longer one: import each timeframe from a file of its own`;
      return [{ reason, rows: [] }];
    },
  };
}
