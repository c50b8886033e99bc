import type { CoverageRow } from "#lib/contract/coverage";
import { coveredShare } from "./share";

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

const bar = (x: number, y: number, height: number) => `M${x} ${y.toFixed(1)}h${STEP - GAP}v${height.toFixed(1)}h${GAP - STEP}z`;

/** A bar for each year: what is stored, and above it what is missing. Years outside of the history are blank. Decorative. */
export function YearBars({ years, first, last }: YearBarsProps) {
  const paths: Record<"stored" | "missing" | "unknown", string[]> = { stored: [], missing: [], unknown: [] };
  for (const covered of years) {
    const x = (covered.year - first) * STEP;
    const share = coveredShare(covered);
    const missing = covered.rows === 0 ? 1 : 1 - (share ?? 1);
    const height = missing < DRAWN_MIN_SHARE ? 0 : Math.max(BAR_MIN_HEIGHT, missing * HEIGHT);
    if (height < HEIGHT) paths[share === null ? "unknown" : "stored"].push(bar(x, height, HEIGHT - height));
    if (height > 0) paths.missing.push(bar(x, 0, height));
  }
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${(last - first + 1) * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-6 w-full"
    >
      <path d={paths.stored.join("")} className="fill-positive" />
      <path d={paths.missing.join("")} className="fill-danger" />
      <path d={paths.unknown.join("")} className="fill-edge" />
    </svg>
  );
}
