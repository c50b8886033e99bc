import type { Bar } from "#lib/client/bar-source";
import { DAY_S, HOUR_S, MINUTE_S, SECOND_MS } from "#lib/units";
import { dateFormat } from "../portal/date-format";
import { changeText } from "../portal/numbers";
import { BREAK_WORDS, type Break } from "./breaks";

const SHAPE = { timeZone: "UTC", year: "numeric", month: "short", day: "2-digit" } as const;

/** An open time in UTC; a day without a time of day when `byDay`. */
export function timeText(seconds: number, byDay: boolean): string {
  const date = dateFormat(SHAPE).format(new Date(seconds * SECOND_MS));
  if (byDay) return date;
  const two = (value: number) => String(value).padStart(2, "0");
  const inDay = seconds % DAY_S;
  return `${date} ${two(Math.floor(inDay / HOUR_S))}:${two(Math.floor((inDay % HOUR_S) / MINUTE_S))}`;
}

interface LegendProps {
  /** The bar or break under the crosshair, else the newest bar; undefined before the first. */
  readonly point: Bar | Break | undefined;
  readonly digits: number;
  readonly byDay: boolean;
  /** True once it is known that there are no bars. */
  readonly none?: boolean;
}

function Value({ name, full, children }: { name: string; full: string; children: string }) {
  return (
    <div className="flex gap-1">
      <dt className="text-ink-faint">
        <abbr title={full} className="no-underline">
          {name}
        </abbr>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Open, high, low, close, change and tick volume of a bar, or what a break is. Its height never changes. */
export function Legend({ point, digits, byDay, none = false }: LegendProps) {
  const row =
    "flex h-10 flex-wrap content-center items-center gap-x-3 overflow-hidden font-mono text-xs leading-5 tabular-nums sm:h-6";
  if (point === undefined) return <p className={`${row} text-ink-faint`}>{none ? "No klines yet" : "Loading"}</p>;
  if ("kind" in point)
    return (
      <p className={`${row} text-ink-soft`}>
        {BREAK_WORDS[point.kind]}: {timeText(point.from, false)} – {timeText(point.to, false)}
      </p>
    );
  const { text, tone } = changeText(point.open === 0 ? 0 : (100 * (point.close - point.open)) / point.open);
  return (
    <dl className={row}>
      <dt className="sr-only">Opened (UTC)</dt>
      <dd className="text-ink-soft">{timeText(point.time, byDay)}</dd>
      <Value name="O" full="Open">
        {point.open.toFixed(digits)}
      </Value>
      <Value name="H" full="High">
        {point.high.toFixed(digits)}
      </Value>
      <Value name="L" full="Low">
        {point.low.toFixed(digits)}
      </Value>
      <Value name="C" full="Close">
        {point.close.toFixed(digits)}
      </Value>
      <dt className="sr-only">Change</dt>
      <dd className={tone}>{text}</dd>
      <Value name="Vol" full="Tick volume: number of quotes">
        {String(point.tick_volume)}
      </Value>
    </dl>
  );
}
