"use client";

import { useMemo } from "react";
import type { BarSource } from "#lib/client/bar-source";
import type { Kline, KlineWindow } from "#lib/contract/kline";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import type { Hours } from "../chart/breaks";
import { KlineChart } from "../chart/kline-chart";
import { Timeframes } from "../chart/timeframes";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { liveKlines } from "./live-klines";
import { decimalsOf } from "./records-format";

interface AnswerChartProps {
  readonly window: KlineWindow;
  readonly bearers: Bearers;
  readonly credential: Credential | undefined;
  /** The path of the call, without its query. */
  readonly path: string;
  /** Sends the call again with another timeframe. */
  readonly onTimeframe: (timeframe: Timeframe) => void;
}

/** A range that ends this close to now continues with the stream; an older one is history. */
const LIVE_WITHIN_S = MINUTE_S;

/** Decimals of the prices: those of the most precise one. */
const digitsOf = (items: readonly Kline[]) => Math.max(0, ...items.map(({ close }) => decimalsOf(close)));

/** When the answer has every kline that was expected, the market was closed between them; otherwise that is unknown. */
function hoursOf({ from, to, count, expected_count }: KlineWindow): Hours | null {
  return expected_count === count ? { from, to: Math.max(to, Date.now()), open: [] } : null;
}

/** The klines of an answer as candles, followed while the window includes the present. */
export function AnswerChart({ window: klines, bearers, credential, path, onTimeframe }: AnswerChartProps) {
  const { ticker, timeframe, items, price } = klines;
  const source = useMemo((): BarSource => {
    // What was at an instant has no future, and streams push bids.
    const followed = klines.as_of === undefined && (klines.price ?? "bid") === "bid";
    const present = followed && klines.to >= Date.now() / SECOND_MS - LIVE_WITHIN_S;
    const open = klines.next_from === null && present;
    if (!open || credential === undefined) return {};
    return liveKlines({ bearers, credential, path, klines });
  }, [klines, bearers, credential, path]);
  const hours = useMemo(() => hoursOf(klines), [klines]);
  const digits = useMemo(() => digitsOf(items), [items]);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Timeframes value={timeframe} onChange={onTimeframe} offered={TIMEFRAMES} />
      <KlineChart
        ticker={ticker}
        digits={digits}
        timeframe={timeframe}
        source={source}
        hours={hours}
        price={price}
        first={items}
        height="h-96"
      />
    </div>
  );
}
