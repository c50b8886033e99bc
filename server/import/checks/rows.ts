import type { Timeframe } from "#lib/contract/primitives";
import type { KlineColumns } from "#lib/domain/columns";
import { TIMEFRAME_SECONDS, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import { DAY_S, HOUR_S, SECOND_MS } from "#lib/units";
import { countText, minuteText } from "#server/cli/words";
import type { Row } from "#server/import/rows/row";
import type { claimsOf } from "#server/import/survey/decide";
import type { Doubt } from "./doubts";

type Claims = ReturnType<typeof claimsOf>;

/** A spread of a larger share of the price is of another unit, or of an hour in which nobody quotes. */
const SPREAD_MAX_SHARE = 0.005;
/** Share of the spreads that may be larger. */
const LARGE_MAX_SHARE = 0.01;
/** Steps one after the other that are as long as those of a longer timeframe: fewer are gaps. */
const SAME_MIN_STEPS = 20;
/** The same of steps of a day and more, between which there are weekends. */
const DAYS_MIN_STEPS = 5;
/** Steps of days are an hour shorter when a clock changes. */
const DAY_MIN_S = DAY_S - HOUR_S;
/** Rows that show a doubt. */
const EXAMPLES_COUNT = 3;

const textOf = ({ timeMs, open, high, low, close }: Row, line: number) =>
  `line ${line}: ${new Date(timeMs).toISOString().slice(0, 19)}Z  ${open}  ${high}  ${low}  ${close}`;

/** Against floating-point noise. */
const NOISE = 1e-6;

/**
 * Finds, in all rows of klines, spreads and volumes of another unit than the first ones, and rows that repeat a time with other
 * prices.
 */
export function createRowChecks({ spreadDigits, quotesEnd }: Claims) {
  const power = Number(`1e${spreadDigits ?? 0}`);
  const spread = { known: 0, large: 0, examples: [] as string[] };
  const broken = { spreads: 0, volumes: 0, examples: [] as string[] };
  const repeated = { rows: 0, examples: [] as string[] };
  const last = { timeMs: Number.NaN, open: Number.NaN, high: Number.NaN, low: Number.NaN, close: Number.NaN };
  return {
    row(row: Row, line: number): void {
      if (row.timeMs === last.timeMs) {
        const isSame = row.open === last.open && row.high === last.high && row.low === last.low && row.close === last.close;
        if (!isSame) {
          repeated.rows += 1;
          if (repeated.examples.length < EXAMPLES_COUNT) repeated.examples.push(textOf(row, line));
        }
      }
      last.timeMs = row.timeMs;
      last.open = row.open;
      last.high = row.high;
      last.low = row.low;
      last.close = row.close;
      if (quotesEnd !== null && (row.tickVolume >= quotesEnd || row.tickVolume % 1 > 0)) {
        broken.volumes += 1;
        if (broken.examples.length < EXAMPLES_COUNT) broken.examples.push(`line ${line}: a volume of ${row.tickVolume}`);
      }
      if (!(row.spread >= 0)) return;
      const units = row.spread * power;
      if (spreadDigits !== null && Math.abs(units - Math.round(units)) > NOISE) {
        broken.spreads += 1;
        if (broken.examples.length < EXAMPLES_COUNT)
          broken.examples.push(`line ${line}: a spread of ${Number(units.toPrecision(6))}`);
      }
      spread.known += 1;
      if (row.spread <= row.close * SPREAD_MAX_SHARE) return;
      spread.large += 1;
      if (spread.examples.length < EXAMPLES_COUNT) spread.examples.push(`line ${line}: ${row.spread} at a price of ${row.close}`);
    },
    doubts(): Doubt[] {
      const doubts: Doubt[] = [];
      if (repeated.rows > 0)
        doubts.push({
          reason: `${countText(repeated.rows)} rows repeat the time of the row before with other prices: a column of the time of day is not read, or they are of several instruments`,
          rows: repeated.examples,
        });
      if (broken.spreads + broken.volumes > 0) {
        const what = broken.spreads > 0 ? "spreads" : "volumes";
        const options =
          broken.spreads > 0 ? "--spread points, --spread pips or --spread price" : "--volume ticks or --volume real";
        const reason = `its first ${what} are whole numbers, and ${countText(broken.spreads + broken.volumes)} later ones are of another kind: say what they are with ${options}`;
        doubts.push({ reason, rows: broken.examples });
      }
      if (spread.large > spread.known * LARGE_MAX_SHARE)
        doubts.push({
          reason: `${countText(spread.large)} of ${countText(spread.known)} spreads are more than ${SPREAD_MAX_SHARE * 100} % of the price: say what they are in with --spread points, --spread pips or --spread price`,
          rows: spread.examples,
        });
      return doubts;
    },
  };
}

/** Finds klines of a longer timeframe behind those of a file: they would be stored as if they were short. */
export function createStepCheck(timeframe: Timeframe) {
  const lengthS = TIMEFRAME_SECONDS[timeframe];
  const isLonger = (stepS: number) => TIMEFRAMES_ORDER.find((one) => TIMEFRAME_SECONDS[one] === stepS && stepS > lengthS);
  let [lastS, stepS, same, days] = [Number.NaN, Number.NaN, 0, 0];
  let found: { readonly timeframe: Timeframe; readonly fromS: number } | null = null;
  return {
    /** The next klines of the file, in its order. */
    take({ time }: KlineColumns): void {
      if (found !== null) return;
      for (const at of time) {
        const step = Math.abs(at - lastS);
        same = step === stepS ? same + 1 : 1;
        days = lengthS < DAY_S && step >= DAY_MIN_S ? days + 1 : 0;
        [lastS, stepS] = [at, step];
        const longer = same >= SAME_MIN_STEPS ? isLonger(step) : days >= DAYS_MIN_STEPS ? "D1" : undefined;
        if (longer === undefined) continue;
        found = { timeframe: longer, fromS: at - (longer === "D1" ? days : same) * step };
        return;
      }
    },
    doubts(): Doubt[] {
      if (found === null) return [];
      const reason = `its klines are ${timeframe}, but from about ${minuteText(found.fromS * SECOND_MS)} on they are those of ${found.timeframe}: import each timeframe from a file of its own`;
      return [{ reason, rows: [] }];
    },
  };
}
