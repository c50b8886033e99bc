import type { CoverageRow } from "#lib/contract/coverage";
import { coveredShare, coveredText } from "./share";

const HEIGHT = 24;
const STEP = 10;
const GAP = 2;
/** Less than this share missing is not drawn: minutes without a quote have no kline. */
const DRAWN_MIN_SHARE = 0.02;
/** The smallest part of a year that is drawn, so that it is seen. */
const BAR_MIN_HEIGHT = 4;

interface YearBarsProps {
  readonly years: CoverageRow["years"];
  /** The years of the axis, both included. */
  readonly first: number;
  readonly last: number;
}

/** A bar for each year: what is stored, and above it what is missing. Years outside of the history are blank. Decorative. */
export function YearBars({ years, first, last }: YearBarsProps) {
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${(last - first + 1) * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-6 w-full"
    >
      {years.map((covered) => {
        const { year, rows } = covered;
        const share = coveredShare(covered);
        const missing = rows === 0 ? 1 : 1 - (share ?? 1);
        const height = missing < DRAWN_MIN_SHARE ? 0 : Math.max(BAR_MIN_HEIGHT, missing * HEIGHT);
        const place = { x: (year - first) * STEP, width: STEP - GAP };
        return (
          <g key={year}>
            <title>{`${year}: ${share === null ? "hours unknown" : coveredText(share)}`}</title>
            <rect {...place} y={height} height={HEIGHT - height} className={share === null ? "fill-edge" : "fill-positive"} />
            {height === 0 ? null : <rect {...place} y={0} height={height} className="fill-danger" />}
          </g>
        );
      })}
    </svg>
  );
}
