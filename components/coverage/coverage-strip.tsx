import type { DataYear } from "#lib/contract/portal-data";
import { DAY_MS } from "#lib/units";

const HEIGHT = 24;
/** Less than this share of a day missing is not drawn: minutes without a quote have no kline. */
const DRAWN_MIN_SHARE = 0.02;
/** The smallest part of a day that is drawn, so that it is seen. */
const BAR_MIN_HEIGHT = 5;
/** A leap year. */
const DAYS = 366;

/** The days of a year from its first of January; days outside the history are blank. */
export function CoverageStrip({ year, from, to, days }: Pick<DataYear, "year" | "from" | "to" | "days">) {
  const firstDay = Math.floor((Date.parse(from) - Date.UTC(year, 0)) / DAY_MS);
  const lastDay = Math.ceil((Date.parse(to) - Date.UTC(year, 0)) / DAY_MS);
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${DAYS} ${HEIGHT}`} preserveAspectRatio="none" className="h-6 w-full rounded-sm">
      <rect x={firstDay} width={lastDay - firstDay} height={HEIGHT} className="fill-edge/60" />
      {days.open.map((open, index) => {
        if (open === 0) return null;
        const missing = 1 - (days.stored[index] ?? 0) / open;
        const height = missing < DRAWN_MIN_SHARE ? 0 : Math.max(BAR_MIN_HEIGHT, missing * HEIGHT);
        const x = firstDay + index;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: days never move
          <g key={index}>
            <rect x={x} width={1} y={0} height={HEIGHT - height} className="fill-positive" />
            {height === 0 ? null : <rect x={x} width={1} y={HEIGHT - height} height={height} className="fill-danger" />}
          </g>
        );
      })}
    </svg>
  );
}

const PARTS = [
  { label: "stored", className: "bg-positive" },
  { label: "closed", className: "bg-edge/60" },
  { label: "gap", className: "bg-danger" },
] as const;

/** What the colors of the strips mean. */
export function CoverageLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
      {PARTS.map(({ label, className }) => (
        <li key={label} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={`size-2.5 rounded-sm ${className}`} />
          {label}
        </li>
      ))}
    </ul>
  );
}
