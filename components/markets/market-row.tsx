"use client";

import Link from "next/link";
import { memo, useEffect, useRef } from "react";
import { type MarketRow, marketPath } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import type { BoardStore } from "../board/board-store";
import { Change, Price } from "../board/price";
import { LABELS, StatusBadge } from "../board/status-badge";
import { useRow } from "../board/use-board";
import { InstrumentMark } from "../ui/instrument-mark";
import { pipsOf } from "./groups";
import { Spark } from "./spark";

/** The columns and from which width they are shown; head and rows share them. */
export const COLUMNS = {
  star: "w-9 pl-1 max-[359px]:hidden sm:w-12 sm:pl-3",
  name: "pr-1 text-left max-[359px]:pl-3 sm:pr-2",
  bid: "w-22 px-1 text-right max-[359px]:w-18 max-[359px]:text-xs sm:w-28 sm:px-2",
  ask: "w-22 px-1 text-right max-[359px]:w-18 max-[359px]:text-xs sm:w-28 sm:px-2",
  spread: "w-32 px-2 text-right max-md:hidden",
  day: "w-18 pr-3 pl-1 text-right sm:w-52 sm:pr-4 sm:pl-2",
  state: "w-32 px-2 pr-4 text-right max-md:hidden",
} as const;

interface MarketRowViewProps {
  readonly store: BoardStore;
  /** The venue that the address of the page asks for. */
  readonly asked: Venue | undefined;
  readonly row: MarketRow;
  readonly favorite: boolean;
  readonly onToggle: (ticker: string) => void;
  /** Called with the row's element while it is shown. */
  readonly onShown: (ticker: string, element: Element) => () => void;
}

function Star({ ticker, on, onToggle }: { ticker: string; on: boolean; onToggle: (ticker: string) => void }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      aria-label={`Favorite ${ticker}`}
      onClick={() => onToggle(ticker)}
      className="relative z-10 inline-flex size-8 pointer-coarse:h-12 items-center justify-center rounded-md text-ink-faint hover:text-ink aria-pressed:text-warning"
    >
      <svg viewBox="0 0 20 20" aria-hidden="true" className="size-4" fill={on ? "currentColor" : "none"}>
        <path
          d="M10 2.5l2.3 4.9 5.2.7-3.8 3.7.9 5.3L10 14.6l-4.6 2.5.9-5.3L2.5 8.1l5.2-.7z"
          stroke="currentColor"
          strokeWidth="1.4"
          strokeLinejoin="round"
        />
      </svg>
    </button>
  );
}

/** One market of the list. The whole row leads to its page. */
export const MarketRowView = memo(function MarketRowView(props: MarketRowViewProps) {
  const { store, asked, row, favorite, onToggle, onShown } = props;
  const { ticker, digits, price, state, reason } = useRow(store, row);
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => (element.current === null ? undefined : onShown(ticker, element.current)), [ticker, onShown]);
  const pips = pipsOf({ price, pip_size: row.pip_size });
  return (
    <tr ref={element} className="relative h-13 border-line border-t hover:bg-sunken/60">
      <td className={COLUMNS.star}>
        <Star ticker={ticker} on={favorite} onToggle={onToggle} />
      </td>
      <th scope="row" className={`${COLUMNS.name} font-normal`}>
        <Link prefetch={false} href={marketPath(asked, ticker)} className="flex items-center gap-3 after:absolute after:inset-0">
          <span className="max-sm:hidden">
            <InstrumentMark base={row.base_currency} quote={row.quote_currency} />
          </span>
          <span className="min-w-0">
            <span className="block font-medium font-mono text-sm leading-5 [overflow-wrap:anywhere]">{ticker}</span>
            {state === "open" ? null : <span className="block text-ink-faint text-xs leading-4 md:hidden">{LABELS[state]}</span>}
            <span className="block truncate text-ink-faint text-xs leading-4 max-sm:hidden">{row.name}</span>
          </span>
        </Link>
      </th>
      <td className={COLUMNS.bid}>
        <Price value={price?.bid} digits={digits} />
      </td>
      <td className={COLUMNS.ask}>
        <Price value={price?.ask} digits={digits} />
      </td>
      <td className={`${COLUMNS.spread} font-mono text-ink-soft tabular-nums`}>{pips?.toFixed(1) ?? "–"}</td>
      <td className={COLUMNS.day}>
        <span className="flex flex-col items-end gap-x-4 sm:flex-row sm:items-center sm:justify-end">
          <Spark values={row.spark} />
          <span className="max-sm:text-xs max-sm:leading-4 sm:w-20">
            <Change value={price?.change_pct} />
          </span>
        </span>
      </td>
      <td className={COLUMNS.state}>
        <StatusBadge state={state} reason={reason} />
      </td>
    </tr>
  );
});
