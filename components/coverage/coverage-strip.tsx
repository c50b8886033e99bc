import type { DataYear } from "#lib/contract/portal-data";
import { DAY_MS } from "#lib/units";

const HEIGHT = 24;
/** Less than this share of a day missing is not drawn: minutes without a quote have no kline. */
const DRAWN_MIN_SHARE = 0.02;
/** The smallest part of a day that is drawn, so that it is seen. */
const BAR_MIN_HEIGHT = 5;
/** A leap year. */
const DAYS = 366;

const bar = (x: number, y: number, height: number) => `M${x} ${y.toFixed(1)}h1v${height.toFixed(1)}h-1z`;

/** The days of a year from its first of January; days outside the history are blank. Two paths: a year of elements would be most of a page. */
export function CoverageStrip({ year, from, to, days }: Pick<DataYear, "year" | "from" | "to" | "days">) {
  const firstDay = Math.floor((Date.parse(from) - Date.UTC(year, 0)) / DAY_MS);
  const lastDay = Math.ceil((Date.parse(to) - Date.UTC(year, 0)) / DAY_MS);
  const [stored, missing]: [string[], string[]] = [[], []];
  for (const [index, open] of days.open.entries()) {
    if (open === 0) continue;
    const share = 1 - (days.stored[index] ?? 0) / open;
    const height = share < DRAWN_MIN_SHARE ? 0 : Math.max(BAR_MIN_HEIGHT, share * HEIGHT);
    if (height < HEIGHT) stored.push(bar(firstDay + index, 0, HEIGHT - height));
    if (height > 0) missing.push(bar(firstDay + index, HEIGHT - height, height));
  }
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${DAYS} ${HEIGHT}`} preserveAspectRatio="none" className="h-6 w-full rounded-sm">
      <rect x={firstDay} width={lastDay - firstDay} height={HEIGHT} className="fill-edge/60" />
      <path d={stored.join("")} className="fill-positive" />
      <path d={missing.join("")} className="fill-danger" />
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
