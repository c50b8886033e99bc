"use client";

import dynamic from "next/dynamic";
import { useMemo, useState } from "react";
import type { Bar } from "#lib/client/bar-source";
import type { BoardRow } from "#lib/contract/board";
import type { MarketDetail } from "#lib/contract/markets";
import type { Timeframe, Venue } from "#lib/contract/primitives";
import { Board } from "../board/board";
import type { BoardStore } from "../board/board-store";
import { useBoardStore } from "../board/use-board";
import { unpacked } from "../chart/packed-bars";
import type { Credential } from "../portal/credential";
import { useNow } from "../portal/time";
import { Segmented } from "../ui/segmented";
import { useSeen } from "../ui/use-seen";

const HEIGHT = "h-[23rem]";
const SHOWN_TIMEFRAMES = ["M1", "M5", "H1", "D1"] as const satisfies readonly Timeframe[];
// Its legend above and its note below keep their place while it loads.
const Waiting = () => <div className={`${HEIGHT} mt-8 mb-7 animate-pulse rounded-lg bg-sunken motion-reduce:animate-none`} />;
/** Its klines come with the page: the chart is there also for a reader who gets no stream. */
const FIRST = "H1";
const NONE: readonly Bar[] = [];
const HeroChart = dynamic(() => import("./hero-chart").then((module) => module.HeroChart), { ssr: false, loading: Waiting });

/** How fast prices reach this page, measured here. */
function Speed({ store }: { store: BoardStore }) {
  // Reads once a second: a figure for each tick could not be read.
  useNow();
  const { latencyMs, perSecond } = store.speed();
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-ink-faint text-xs">
      <div className="flex gap-1.5">
        <dt>Tick to screen</dt>
        <dd className="min-w-12 font-mono text-ink tabular-nums">{latencyMs === null ? "–" : `${Math.round(latencyMs)} ms`}</dd>
      </div>
      <div className="flex gap-1.5">
        <dt>Ticks per second</dt>
        <dd className="min-w-8 font-mono text-ink tabular-nums">{perSecond === null ? "–" : perSecond.toFixed(1)}</dd>
      </div>
      <div className="sm:ml-auto">
        <dt className="sr-only">How this is measured</dt>
        <dd>Measured on this page: from the service's receipt of a tick to its paint, with the clocks compared by ping.</dd>
      </div>
    </dl>
  );
}

interface MarketPanelProps {
  readonly venue: Venue;
  readonly rows: readonly BoardRow[];
  /** The ticker of the chart that is shown first, and its newest klines of H1. */
  readonly first: Pick<MarketDetail, "bars"> & Pick<BoardRow, "ticker">;
  /** Undefined when nothing streams. */
  readonly credential: Credential | undefined;
}

/** The board and a live chart of one ticker, with the time its ticks take to arrive. */
export function MarketPanel({ venue, rows, first, credential }: MarketPanelProps) {
  const store = useBoardStore(rows, credential);
  const { place, seen } = useSeen();
  const [ticker, setTicker] = useState(first.ticker);
  const [timeframe, setTimeframe] = useState<(typeof SHOWN_TIMEFRAMES)[number]>(FIRST);
  const known = useMemo(() => unpacked(first.bars), [first]);
  const row = rows.find((one) => one.ticker === ticker);
  return (
    <>
      <div className="grid items-stretch gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,27rem)]">
        {credential === undefined || row === undefined ? null : (
          <div ref={place} className="min-w-0 rounded-xl border border-line bg-surface p-4 max-lg:order-last">
            <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
              <label className="flex items-center gap-2 font-medium text-sm">
                <span className="sr-only">Chart of</span>
                <select
                  value={ticker}
                  onChange={(event) => setTicker(event.target.value)}
                  className="min-h-9 rounded-md border border-edge bg-surface py-1 pr-8 pl-3 font-mono text-sm pointer-coarse:min-h-11 pointer-coarse:text-base"
                >
                  {rows.map((one) => (
                    <option key={one.ticker}>{one.ticker}</option>
                  ))}
                </select>
              </label>
              <Segmented
                legend="Timeframe"
                choices={SHOWN_TIMEFRAMES.map((choice) => ({
                  value: choice,
                  label: <span className="font-mono">{choice}</span>,
                }))}
                value={timeframe}
                onChange={setTimeframe}
              />
            </div>
            {seen ? (
              <HeroChart
                key={`${row.ticker} ${timeframe}`}
                row={row}
                timeframe={timeframe}
                first={ticker === first.ticker && timeframe === FIRST ? known : NONE}
                venue={venue}
                store={store}
                height={HEIGHT}
              />
            ) : (
              <Waiting />
            )}
          </div>
        )}
        <Board venue={venue} rows={rows} store={store} />
      </div>
      {credential === undefined ? null : (
        <div className="mt-3 px-1">
          <Speed store={store} />
        </div>
      )}
    </>
  );
}
