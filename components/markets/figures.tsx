"use client";

import type { ReactNode } from "react";
import type { BoardRow } from "#lib/contract/board";
import type { MarketRow } from "#lib/contract/markets";
import { Change, Price } from "../board/price";
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

/** Where the bid is between the lowest and the highest of the day. */
function DayRange({ price, digits }: { price: NonNullable<BoardRow["price"]>; digits: number }) {
  const { bid, bid_high: high, bid_low: low } = price;
  if (high === null || high === undefined || low === null || low === undefined) return null;
  const place = high === low ? PERCENT / 2 : (PERCENT * (bid - low)) / (high - low);
  return (
    <div className="border-line border-t px-4 py-3">
      <dt className="flex justify-between text-ink-faint text-sm">Range of the day</dt>
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
            {low.toFixed(digits)}
          </span>
          <span>
            <span className="sr-only">High </span>
            {high.toFixed(digits)}
          </span>
        </div>
      </dd>
    </div>
  );
}

/** The numbers of a market: its quote, and its trading day. */
export function MarketFigures({ row, price }: { row: MarketRow; price: BoardRow["price"] }) {
  const { digits, pip_size } = row;
  const pips = pipsOf({ price, pip_size });
  return (
    <dl className="overflow-hidden rounded-xl border border-line bg-surface">
      <Line label="Bid">
        <Price value={price?.bid} digits={digits} />
      </Line>
      <Line label="Ask">
        <Price value={price?.ask} digits={digits} />
      </Line>
      <Line label="Mid">{price === null ? "–" : ((price.bid + price.ask) / 2).toFixed(digits + 1)}</Line>
      <Line label="Spread">
        {pips === undefined ? "–" : `${pips.toFixed(1)} pips`}
        {pips === undefined ? null : <span className="ml-2 text-ink-faint">{(pips * pip_size).toFixed(digits)}</span>}
      </Line>
      <Line label="Change of the day">
        <Change value={price?.change_pct} />
      </Line>
      <Line label="Open">{price?.open?.toFixed(digits) ?? "–"}</Line>
      <Line label="Previous close">{price?.close?.toFixed(digits) ?? "–"}</Line>
      {price === null ? null : <DayRange price={price} digits={digits} />}
    </dl>
  );
}
