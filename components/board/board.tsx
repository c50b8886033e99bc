import { StatusBadge } from "#components/board/status-badge";
import type { FinalDisplayState, StatusReason } from "#lib/contract/status";

/** One line of the board; a price that is not known is null. Prices are decimal text, already at the instrument's digits. */
export interface BoardRow {
  readonly ticker: string;
  readonly bid: string | null;
  readonly ask: string | null;
  readonly changePct: number | null;
  readonly state: FinalDisplayState;
  readonly reason: StatusReason | null;
}

const UNKNOWN = "–";
const CELL = "px-3 py-2.5 text-right font-mono tabular-nums";
const HEAD = "px-3 py-2 font-medium text-ink-faint text-xs";

function Change({ value }: { value: number | null }) {
  if (value === null) return <>{UNKNOWN}</>;
  const tone = value > 0 ? "text-positive" : value < 0 ? "text-danger" : "";
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return (
    <span className={tone}>
      {sign}
      {Math.abs(value).toFixed(2)} %
    </span>
  );
}

/** Latest prices with the state of their market, as they were when the page was made. */
export function Board({ rows, caption }: { rows: readonly BoardRow[]; caption: string }) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <table className="w-full text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-line border-b">
            <th scope="col" className={`${HEAD} pl-4 text-left`}>
              Ticker
            </th>
            <th scope="col" className={`${HEAD} text-right`}>
              Bid
            </th>
            <th scope="col" className={`${HEAD} text-right max-sm:hidden`}>
              Ask
            </th>
            <th scope="col" className={`${HEAD} text-right max-sm:hidden`}>
              Day
            </th>
            <th scope="col" className={`${HEAD} pr-4 text-right`}>
              Market
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ ticker, bid, ask, changePct, state, reason }) => (
            <tr key={ticker} className="border-line border-b last:border-b-0">
              <th scope="row" className="px-3 py-2.5 pl-4 text-left font-medium font-mono">
                {ticker}
              </th>
              <td className={CELL}>{bid ?? UNKNOWN}</td>
              <td className={`${CELL} max-sm:hidden`}>{ask ?? UNKNOWN}</td>
              <td className={`${CELL} max-sm:hidden`}>
                <Change value={changePct} />
              </td>
              <td className="px-3 py-2.5 pr-4 text-right">
                <StatusBadge state={state} reason={reason} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
