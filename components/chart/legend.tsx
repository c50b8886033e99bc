import type { Bar } from "#lib/client/bar-source";
import { changeText, countText, priceText } from "../portal/numbers";
import { BREAK_WORDS, type Break } from "./breaks";
import type { ChartClock } from "./clock";

/** Two lines on a phone, three on the narrowest, one where there is room for all: the place of a legend within `@container`. */
export const LEGEND_HEIGHT = "min-h-10 @max-[20rem]:min-h-15 @2xl:min-h-5";

interface LegendProps {
  /** The bar or break under the crosshair, else the newest bar; undefined before the first. */
  readonly point: Bar | Break | undefined;
  readonly digits: number;
  readonly clock: Pick<ChartClock, "text">;
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

/** Open, high, low, close, change and tick volume of a bar, or what a break is. All of it is shown at every width. */
export function Legend({ point, digits, clock, none = false }: LegendProps) {
  const row = `flex flex-wrap content-center items-center gap-x-3 font-mono text-xs leading-5 tabular-nums ${LEGEND_HEIGHT}`;
  if (point === undefined) return <p className={`${row} text-ink-faint`}>{none ? "No klines yet" : "Loading"}</p>;
  if ("kind" in point)
    return (
      <p className={`${row} text-ink-soft`}>
        {BREAK_WORDS[point.kind]}: {clock.text(point.from)} – {clock.text(point.to)}
      </p>
    );
  const { text, tone } = changeText(point.open === 0 ? 0 : (100 * (point.close - point.open)) / point.open);
  return (
    <dl className={row}>
      <dt className="sr-only">Kline of</dt>
      <dd className="text-ink-soft">{clock.text(point.time)}</dd>
      <Value name="O" full="Open">
        {priceText(point.open, digits)}
      </Value>
      <Value name="H" full="High">
        {priceText(point.high, digits)}
      </Value>
      <Value name="L" full="Low">
        {priceText(point.low, digits)}
      </Value>
      <Value name="C" full="Close">
        {priceText(point.close, digits)}
      </Value>
      <dt className="sr-only">Change</dt>
      <dd className={tone}>{text}</dd>
      <Value name="Vol" full="Tick volume: number of quotes">
        {countText(point.tick_volume)}
      </Value>
    </dl>
  );
}
