"use client";

import { memo, type ReactNode, useEffect, useRef } from "react";
import { StatusBadge } from "#components/board/status-badge";
import type { BoardRow } from "#lib/contract/board";
import type { BoardStore } from "./board-store";
import { FeedLine, FeedNote } from "./feed-line";
import { useBoardStore, useRow } from "./use-board";

const TINT_MS = 400;
const UNKNOWN = "–";
const CELL = "whitespace-nowrap px-2 py-0 text-right sm:px-3";
const HEAD = "h-9 px-2 font-medium text-ink-faint text-xs sm:px-3";

/** A number that is briefly tinted when it goes up or down, unless the reader prefers reduced motion. */
function Tinted({ value, children }: { value: number | undefined; children: ReactNode }) {
  const text = useRef<HTMLSpanElement>(null);
  const before = useRef(value);
  useEffect(() => {
    const last = before.current;
    before.current = value;
    if (value === undefined || last === undefined || value === last) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const colour = value > last ? "--positive" : "--danger";
    const ground = `color-mix(in oklab, var(${colour}) 24%, transparent)`;
    text.current?.animate([{ backgroundColor: ground }, { backgroundColor: "transparent" }], TINT_MS);
  }, [value]);
  return (
    <span ref={text} data-price className="-mx-1 rounded px-1 py-0.5 font-mono tabular-nums">
      {children}
    </span>
  );
}

function Change({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span className="text-ink-faint">{UNKNOWN}</span>;
  const text = Math.abs(value).toFixed(2);
  // A change that rounds to zero has no direction.
  const way = Number(text) === 0 ? 0 : Math.sign(value);
  const tone = way > 0 ? "text-positive" : way < 0 ? "text-danger" : "text-ink-soft";
  return (
    <span className={`font-mono tabular-nums ${tone}`}>
      {way > 0 ? "+" : way < 0 ? "−" : ""}
      {text} %
    </span>
  );
}

const Row = memo(function Row({ store, row: first }: { store: BoardStore; row: BoardRow }) {
  const { ticker, digits, price, state, reason } = useRow(store, first);
  return (
    <tr className="h-11 border-line border-t">
      <th scope="row" className="px-2 pl-4 text-left font-medium font-mono sm:px-3 sm:pl-5">
        {ticker}
      </th>
      <td className={CELL}>
        <Tinted value={price?.bid}>{price?.bid.toFixed(digits) ?? UNKNOWN}</Tinted>
      </td>
      <td className={`${CELL} max-sm:hidden`}>
        <Tinted value={price?.ask}>{price?.ask.toFixed(digits) ?? UNKNOWN}</Tinted>
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
  readonly rows: readonly BoardRow[];
  readonly caption: string;
  /** The public demo key; undefined when it is disabled, and then nothing streams. */
  readonly demoKey: string | undefined;
}

/** Latest prices with the state of their market: as rendered, then updated. */
export function Board({ rows, caption, demoKey }: BoardProps) {
  const store = useBoardStore(rows, demoKey);
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <FeedLine store={store} />
      <table className="w-full table-fixed text-sm">
        <caption className="sr-only">{caption}</caption>
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
      <FeedNote store={store} />
    </div>
  );
}
