"use client";

import { useMemo } from "react";
import type { Bar, BarSource } from "#lib/client/bar-source";
import type { MarketDetail } from "#lib/contract/markets";
import type { Timeframe } from "#lib/contract/primitives";
import { FeedLine, FeedNote } from "../board/feed-line";
import { Change, Price } from "../board/price";
import { StatusBadge } from "../board/status-badge";
import { useBoardStore, useRow } from "../board/use-board";
import { LazyChart } from "../chart/lazy-chart";
import { unpacked } from "../chart/packed-bars";
import { Timeframes } from "../chart/timeframes";
import type { Credential } from "../portal/credential";
import { Badge } from "../ui/badge";
import { InstrumentMark } from "../ui/instrument-mark";
import { CompareSelect, useCompared } from "./compare";
import { MarketFigures } from "./figures";
import { usePageQuery } from "./page-query";

/** The timeframe of the klines that the page has from the start. */
const FIRST: Timeframe = "H1";
const NONE: readonly Bar[] = [];
/** Without a key there is nothing to read or to follow. */
const STILL: BarSource = {};

interface MarketViewProps {
  readonly detail: Pick<MarketDetail, "row" | "instrument" | "bars" | "hours" | "ranges">;
  /** Undefined when nothing streams. */
  readonly credential: Credential | undefined;
}

/** The head of a market's page, its chart and its numbers, live while the page is visible. */
export function MarketView({ detail: { row, instrument, bars, hours, ranges }, credential }: MarketViewProps) {
  const rows = useMemo(() => [row], [row]);
  const store = useBoardStore(rows, credential);
  const { ticker, digits, price, state, reason } = useRow(store, row);
  const [asked, setTimeframe] = usePageQuery("timeframe");
  const timeframe = instrument.timeframes.find((one) => one === asked) ?? FIRST;
  const first = useMemo(() => unpacked(bars), [bars]);
  const source = useMemo(() => (credential === undefined ? STILL : store.bars(ticker)), [store, credential, ticker]);
  const { others, compared, onCompare } = useCompared(ticker);
  const second = useMemo(
    () => (compared === undefined || credential === undefined ? undefined : { ticker: compared, source: store.bars(compared) }),
    [store, credential, compared],
  );
  return (
    <>
      <div className="mb-6 flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
        <div className="flex min-w-0 items-center gap-4">
          <span className="max-sm:hidden sm:scale-150 sm:px-3">
            <InstrumentMark base={row.base_currency} quote={row.quote_currency} />
          </span>
          <div className="min-w-0">
            <div className="flex flex-wrap items-center gap-x-3">
              <h1 className="font-semibold text-2xl leading-8 tracking-tight">{ticker}</h1>
              <StatusBadge state={state} reason={reason} />
              {credential?.kind === "live_page" ? null : <Badge tone="neutral">Sandbox</Badge>}
            </div>
            <p className="text-ink-soft text-sm leading-6">{row.name}</p>
          </div>
        </div>
        <p className="flex items-baseline gap-4">
          <span className="sr-only">Bid</span>
          <span className="font-medium text-3xl leading-9">
            <Price value={price?.bid} digits={digits} />
          </span>
          <Change value={price?.change_pct} />
        </p>
      </div>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0">
          {credential === undefined ? null : (
            <div className="mb-3 flex flex-wrap items-center gap-3">
              <div className="min-w-0 grow">
                <Timeframes value={timeframe} onChange={setTimeframe} offered={instrument.timeframes} />
              </div>
              <CompareSelect others={others} compared={compared} onCompare={onCompare} />
            </div>
          )}
          <LazyChart
            ticker={ticker}
            digits={digits}
            timeframe={timeframe}
            source={source}
            hours={hours}
            last={price?.bid}
            second={second}
            first={timeframe === FIRST ? first : NONE}
            height="h-80 sm:h-[28rem]"
          />
        </div>
        <div className="min-w-0">
          <MarketFigures row={row} price={price} ranges={ranges} source={source} />
          <div className="mt-4 overflow-hidden rounded-xl border border-line bg-surface">
            <FeedLine store={store} />
            <FeedNote store={store} venue={credential?.kind === "live_page" ? "live" : "sandbox"} />
          </div>
        </div>
      </div>
    </>
  );
}
