"use client";

import { useMemo } from "react";
import type { Bar } from "#lib/client/bar-source";
import { useBoardStore } from "../board/use-board";
import { demoCredential } from "../portal/credential";
import { KlineChart, type KlineChartProps } from "./kline-chart";

/** What a chart of the sandbox shows. */
export interface LiveChartProps extends Pick<KlineChartProps, "ticker" | "digits" | "timeframe" | "height"> {
  readonly demoKey: string;
}

const NO_BARS: readonly Bar[] = [];
const NO_ROWS: readonly never[] = [];

/** A live chart by itself, read with the demo key over the connection that the pages of this browser share. */
export function LiveChart({ demoKey, ...shown }: LiveChartProps) {
  const store = useBoardStore(NO_ROWS, demoCredential(demoKey));
  const source = useMemo(() => store.bars(shown.ticker), [store, shown.ticker]);
  return <KlineChart {...shown} first={NO_BARS} source={source} />;
}
