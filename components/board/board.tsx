"use client";

import Link from "next/link";
import { memo } from "react";
import { StatusBadge } from "#components/board/status-badge";
import type { BoardRow } from "#lib/contract/board";
import type { Venue } from "#lib/contract/primitives";
import type { Credential } from "../portal/credential";
import type { BoardStore } from "./board-store";
import { FeedLine, FeedNote } from "./feed-line";
import { Change, Price } from "./price";
import { useBoardStore, useRow } from "./use-board";

const CELL = "whitespace-nowrap px-2 py-0 text-right sm:px-3";
const HEAD = "h-9 px-2 font-medium text-ink-faint text-xs sm:px-3";

const Row = memo(function Row({ store, row: first }: { store: BoardStore; row: BoardRow }) {
  const { ticker, digits, price, state, reason } = useRow(store, first);
  return (
    <tr className="h-11 border-line border-t">
      <th scope="row" className="px-2 pl-4 text-left font-medium font-mono sm:px-3 sm:pl-5">
        <Link prefetch={false} href={`/markets/${ticker}`} className="hover:text-accent hover:underline">
          {ticker}
        </Link>
      </th>
      <td className={CELL}>
        <Price value={price?.bid} digits={digits} />
      </td>
      <td className={`${CELL} max-sm:hidden`}>
        <Price value={price?.ask} digits={digits} />
      </td>
      <td className={`${CELL} max-[359px]:hidden`}>
        <Change value={price?.change_pct} />
      </td>
      <td className={`${CELL} pr-4 sm:pr-5`}>
        <StatusBadge state={state} reason={reason} />
      </td>
    </tr>
  );
});

interface BoardProps {
  readonly venue: Venue;
  readonly rows: readonly BoardRow[];
  readonly store: BoardStore;
}

/** Latest prices with the state of their market: as rendered, then updated. */
export function Board({ venue, rows, store }: BoardProps) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <FeedLine store={store} />
      <table className="w-full table-fixed text-sm">
        <caption className="sr-only">Latest {venue} prices and the state of their markets</caption>
        <thead>
          <tr className="border-line border-t bg-sunken/60">
            <th scope="col" className={`${HEAD} pl-4 text-left sm:pl-5`}>
              Ticker
            </th>
            <th scope="col" className={`${HEAD} text-right`}>
              Bid
            </th>
            <th scope="col" className={`${HEAD} text-right max-sm:hidden`}>
              Ask
            </th>
            <th scope="col" className={`${HEAD} text-right max-[359px]:hidden`}>
              Day
            </th>
            <th scope="col" className={`${HEAD} pr-4 text-right sm:pr-5`}>
              Market
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.ticker} store={store} row={row} />
          ))}
        </tbody>
      </table>
      <FeedNote store={store} venue={venue} />
    </div>
  );
}

interface LiveBoardProps extends Omit<BoardProps, "store"> {
  /** Undefined when nothing streams. */
  readonly credential: Credential | undefined;
}

/** A board with a connection of its own. */
export function LiveBoard({ venue, rows, credential }: LiveBoardProps) {
  return <Board venue={venue} rows={rows} store={useBoardStore(rows, credential)} />;
}
