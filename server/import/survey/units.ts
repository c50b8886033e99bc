import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { MINUTE_S } from "#lib/units";
import { Unsure } from "#server/import/failure";
import type { Row, SpreadUnit, VolumeRole } from "#server/import/rows/row";

/** No minute has as many quotes: a larger whole number is an amount. */
const QUOTES_MAX_PER_MINUTE = 100_000;
/** Spreads in pips are at least a tenth of one; those in price units are smaller, unless the price has hundreds of units. */
const PIPS_MIN = 0.1;
/** Spreads of this share of the price are usual in price units. */
const USUAL_MAX_SHARE = 0.0005;

/** What the spreads and volumes of rows show, as they are written. */
export type Values = ReturnType<ReturnType<typeof createValues>["values"]>;

/** Collects what spreads and volumes show: of all rows, because the first ones can be those of a holiday. */
export function createValues() {
  const spread = { stated: 0, known: 0, broken: 0, large: 0, example: Number.NaN };
  const volume = { known: 0, broken: 0, most: 0 };
  let hasVolume = false;
  return {
    row(row: Row): void {
      if (row.spread >= 0) spread.stated += 1;
      if (row.spread > 0) {
        spread.known += 1;
        if (!Number.isInteger(row.spread)) spread.broken += 1;
        if (row.spread >= PIPS_MIN && row.spread > row.close * USUAL_MAX_SHARE) {
          spread.large += 1;
          if (Number.isNaN(spread.example)) spread.example = row.spread;
        }
      }
      if (row.volume > 0) {
        volume.known += 1;
        if (!Number.isInteger(row.volume)) volume.broken += 1;
        volume.most = Math.max(volume.most, row.volume);
      }
      hasVolume ||= row.volume > 0 || row.tickVolume > 0 || row.realVolume > 0;
    },
    values: () => ({
      spread: { ...spread },
      volume: { ...volume },
      /** True when any row has a volume: a volume of 0 then means that there was no quote. */
      hasVolume,
    }),
  };
}

/** What a column is, and how it shows. */
interface Decided<Is> {
  readonly is: Is;
  readonly because: string;
}

/**
 * What a spread column is in: points where all of its values are whole numbers, price units where they are as small as those are.
 * @param pip of the instrument, in price units
 * @throws Unsure for broken numbers that can be pips as well
 */
export function spreadUnitOf({ spread }: Values, given: SpreadUnit | null, pip: number): Decided<SpreadUnit> {
  if (given !== null) return { is: given, because: "set with --spread" };
  const { known, broken, large, example } = spread;
  if (broken === 0) return { is: "points", because: known === 0 ? "all are 0" : "all are whole numbers" };
  if (large * 2 <= known) return { is: "price", because: "they are as small as those" };
  throw new Unsure(
    `its spreads, such as ${example}, may be pips (${Number((example * pip).toPrecision(4))}), average points (${Number((example * pip * 0.1).toPrecision(4))}) or price units: set --spread pips, --spread points or --spread price`,
  );
}

/** What a column of volumes counts whose name does not say it: an amount where any value cannot be a number of quotes. */
export function volumeOf({ volume }: Values, given: Exclude<VolumeRole, "volume"> | null, timeframe: Timeframe) {
  const decided = (is: Exclude<VolumeRole, "volume">, because: string) => ({ is, because });
  if (given !== null) return decided(given, "set with --volume");
  const { known, broken, most } = volume;
  if (broken > 0) return decided("realVolume", "not all are whole numbers");
  const bound = (QUOTES_MAX_PER_MINUTE * TIMEFRAME_SECONDS[timeframe]) / MINUTE_S;
  if (most >= bound) return decided("realVolume", "some are more quotes than a kline has");
  return decided("tickVolume", known === 0 ? "all are 0" : "all are whole numbers");
}
