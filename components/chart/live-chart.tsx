"use client";

import { useMemo } from "react";
import type { Bar } from "#lib/client/bar-source";
import { useBoardStore } from "../board/use-board";
import { PAGE_CREDENTIAL } from "../portal/credential";
import { KlineChart, type KlineChartProps } from "./kline-chart";

/** What a chart of the sandbox shows. */
export type LiveChartProps = Pick<KlineChartProps, "ticker" | "digits" | "timeframe" | "height">;

const NO_BARS: readonly Bar[] = [];
const NO_ROWS: readonly never[] = [];

/** A live chart by itself, read over the connection that the pages of this browser share. */
export function LiveChart(shown: LiveChartProps) {
  const store = useBoardStore(NO_ROWS, PAGE_CREDENTIAL);
  const source = useMemo(() => store.bars(shown.ticker), [store, shown.ticker]);
  return <KlineChart {...shown} first={NO_BARS} source={source} />;
}
