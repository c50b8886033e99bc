"use client";

import { type ReactNode, useEffect, useState } from "react";
import type { BarSource } from "#lib/client/bar-source";
import type { BoardRow } from "#lib/contract/board";
import type { MarketDetail, MarketRow, PeriodRange } from "#lib/contract/markets";
import { SECOND_MS } from "#lib/units";
import { Change, Price } from "../board/price";
import { chartClock } from "../chart/clock";
import { priceText } from "../portal/numbers";
import { pipsOf } from "./groups";

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4 border-line border-t px-4 py-2 first:border-t-0">
      <dt className="text-ink-faint text-sm">{label}</dt>
      <dd className="text-right font-mono text-sm tabular-nums">{children}</dd>
    </div>
  );
}

const PERCENT = 100;

type Timeframe = "D1" | "W1" | "MN1";

/** The trading day, week or month of a time (Unix seconds), in words. */
const daysText = (timeframe: Timeframe, atS: number) =>
  `${timeframe === "W1" ? "since " : ""}${chartClock(timeframe, "UTC").text(atS)}`;

/** The range of the trading day of a price; null while it is not known. */
function dayOf({ time_msc, bid_low: low, bid_high: high }: NonNullable<BoardRow["price"]>): PeriodRange | null {
  return low == null || high == null ? null : { time: time_msc / SECOND_MS, low, high };
}

interface RangeProps {
  readonly label: string;
  readonly timeframe: Timeframe;
  readonly of: PeriodRange | null;
  readonly bid: number;
  readonly digits: number;
}

/** Where the bid is between the lowest and the highest of a time. */
function Range({ label, timeframe, of, bid, digits }: RangeProps) {
  if (of === null) return null;
  const { time, low, high } = of;
  const place = high === low ? PERCENT / 2 : (PERCENT * (bid - low)) / (high - low);
  return (
    <div className="border-line border-t px-4 py-3">
      <dt className="flex flex-wrap items-baseline justify-between gap-x-4 text-ink-faint text-sm">
        {label} <span className="text-xs tabular-nums">{daysText(timeframe, time)}</span>
      </dt>
      <dd className="mt-2">
        <div aria-hidden="true" className="relative h-1 rounded-full bg-line">
          <span
            className="absolute -top-1 size-3 -translate-x-1/2 rounded-full border-2 border-surface bg-accent"
            style={{ left: `${Math.min(PERCENT, Math.max(0, place)).toFixed(1)}%` }}
          />
        </div>
        <div className="mt-2 flex justify-between font-mono text-xs tabular-nums">
          <span>
            <span className="sr-only">Low </span>
            {priceText(low, digits)}
          </span>
          <span>
            <span className="sr-only">High </span>
            {priceText(high, digits)}
          </span>
        </div>
      </dd>
    </div>
  );
}

/** The newest kline of a week or a month: as rendered, then followed. */
function usePeriod(source: BarSource, timeframe: "W1" | "MN1", rendered: PeriodRange | null): PeriodRange | null {
  const [range, setRange] = useState(rendered);
  useEffect(
    () =>
      source.follow?.(timeframe, {
        onBar: (bar, removed) => setRange((known) => (removed || bar.time < (known?.time ?? 0) ? known : bar)),
        onState: () => undefined,
      }),
    [source, timeframe],
  );
  return range;
}

interface MarketFiguresProps {
  readonly row: MarketRow;
  readonly price: BoardRow["price"];
  readonly ranges: MarketDetail["ranges"];
  readonly source: BarSource;
}

const priceOr = (price: number | null | undefined, digits: number) => (price == null ? "–" : priceText(price, digits));

/** The numbers of a market: its quote, and its trading day, week and month. */
export function MarketFigures({ row, price, ranges, source }: MarketFiguresProps) {
  const { digits, pip_size } = row;
  const pips = pipsOf({ price, pip_size });
  const week = usePeriod(source, "W1", ranges.W1);
  const month = usePeriod(source, "MN1", ranges.MN1);
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <dl>
        <Line label="Bid">
          <Price value={price?.bid} digits={digits} />
        </Line>
        <Line label="Ask">
          <Price value={price?.ask} digits={digits} />
        </Line>
        <Line label="Mid">{price === null ? "–" : priceText((price.bid + price.ask) / 2, digits + 1)}</Line>
        <Line label="Spread">
          {pips === undefined ? "–" : `${pips.toFixed(1)} pips`}
          {pips === undefined ? null : <span className="ml-2 text-ink-faint">{(pips * pip_size).toFixed(digits)}</span>}
        </Line>
        <Line label="Day change">
          <Change value={price?.change_pct} />
        </Line>
        <Line label="Open">{priceOr(price?.open, digits)}</Line>
        <Line label="Previous close">{priceOr(price?.close, digits)}</Line>
        {price === null ? null : (
          <>
            <Range label="Day range" timeframe="D1" of={dayOf(price)} bid={price.bid} digits={digits} />
            <Range label="Week range" timeframe="W1" of={week} bid={price.bid} digits={digits} />
            <Range label="Month range" timeframe="MN1" of={month} bid={price.bid} digits={digits} />
          </>
        )}
      </dl>
      {price === null ? null : (
        <p className="border-line border-t px-4 py-2 text-ink-faint text-xs leading-5">
          Lowest and highest bids of trading days, which begin at 17:00 in New York.
        </p>
      )}
    </div>
  );
}
