import type { Row } from "#server/import/rows/row";

/** Spreads in pips are at least a tenth of one; those in price units are smaller, unless the price has hundreds of units. */
const PIPS_MIN = 0.1;
/** Spreads of this share of the price are usual in price units. */
const USUAL_MAX_SHARE = 0.001;

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
