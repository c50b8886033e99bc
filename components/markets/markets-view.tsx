"use client";

import { useRouter } from "next/navigation";
import { useCallback, useEffect, useRef, useState } from "react";
import type { MarketRow } from "#lib/contract/markets";
import type { Venue } from "#lib/contract/primitives";
import { searchInstruments } from "#lib/instrument-search";
import { FeedLine } from "../board/feed-line";
import { useBoardStore } from "../board/use-board";
import type { Credential } from "../portal/credential";
import { CONTROL } from "../ui/field";
import { SORT_HEAD as HEAD, SortHead } from "../ui/sort-head";
import { useFavorites } from "./favorites";
import { byGroup, GROUPS, type Group, groupOf, type Sorting, sortRows } from "./groups";
import { COLUMNS, MarketRowView } from "./market-row";
import { useShownRows } from "./shown-rows";

/** The service reads the lines after its start: until then the page asks again, a few times. */
const LINES_AGAIN_MS = 4_000;
const LINES_AGAIN_MAX_COUNT = 3;
interface FilterProps {
  readonly groups: readonly Group[];
  readonly group: Group;
  readonly onGroup: (group: Group) => void;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Filter({ groups, group, onGroup, text, onText }: FilterProps) {
  return (
    <div className="mb-4 flex flex-wrap items-center gap-3">
      <input
        type="search"
        value={text}
        onChange={(event) => onText(event.target.value)}
        aria-label="Search markets"
        placeholder="Search: gold, yen, EURUSD"
        className={`${CONTROL} sm:max-w-64`}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset does not lay out its children in a row in all browsers */}
      <div role="group" aria-label="Group" className="-mx-4 flex gap-1 overflow-x-auto px-4 sm:mx-0 sm:px-0">
        {groups.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === group}
            onClick={() => onGroup(one)}
            className="min-h-9 pointer-coarse:min-h-10 whitespace-nowrap rounded-full border border-line px-3 text-ink-soft text-sm hover:text-ink aria-pressed:border-edge aria-pressed:bg-sunken aria-pressed:text-ink"
          >
            {one}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Renders the page of the sandbox again while no row has a line; of live, which may have none, each time would count for a key. */
function useLines(venue: Venue, rows: readonly MarketRow[]): void {
  const router = useRouter();
  const asked = useRef(0);
  useEffect(() => {
    if (venue === "live" || asked.current >= LINES_AGAIN_MAX_COUNT || rows.some(({ spark }) => spark.length > 0)) return;
    asked.current += 1;
    const timer = setTimeout(() => router.refresh(), LINES_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [venue, rows, router]);
}

interface MarketsViewProps {
  readonly venue: Venue;
  /** The venue that the address asks for: links keep it. */
  readonly asked: Venue | undefined;
  readonly rows: readonly MarketRow[];
  /** Undefined when nothing streams. */
  readonly credential: Credential | undefined;
}

const EMPTY: Readonly<Partial<Record<Group, string>>> = {
  Favorites: "No favorites yet. Select the star beside a market to keep it here, on this device.",
};

/** All markets of a venue: searched, filtered and sorted here, live while they are in view. */
export function MarketsView({ venue, asked, rows, credential }: MarketsViewProps) {
  const store = useBoardStore(rows, credential);
  useLines(venue, rows);
  const { favorites, toggle } = useFavorites();
  const [group, setGroup] = useState<Group>("All");
  const [text, setText] = useState("");
  const [sorting, setSorting] = useState<Sorting>({ key: "none", descending: false });
  const onShown = useShownRows(useCallback((tickers: readonly string[]) => store.watch(tickers), [store]));
  const groups = GROUPS.filter((one) => one === "All" || one === "Favorites" || rows.some((row) => groupOf(row) === one));
  const inGroup = rows.filter((row) =>
    group === "Favorites" ? favorites.includes(row.ticker) : group === "All" || groupOf(row) === group,
  );
  // Sorted by the prices of the moment: rows that changed places on every tick could not be read.
  const current = byGroup(inGroup).map((row) => ({ ...row, price: store.row(row.ticker)?.price ?? row.price }));
  const order = sortRows(searchInstruments(current, text), sorting).map(({ ticker }) => ticker);
  const byTicker = new Map(rows.map((row) => [row.ticker, row]));
  const shown = order.flatMap((ticker) => byTicker.get(ticker) ?? []);
  return (
    <>
      <Filter groups={groups} group={group} text={text} onGroup={setGroup} onText={setText} />
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <FeedLine store={store} />
        <table className="w-full table-fixed text-sm">
          <caption className="sr-only">Markets with their latest prices</caption>
          <thead>
            <tr className="border-line border-t bg-sunken/60">
              <th scope="col" className={`${HEAD} ${COLUMNS.star}`}>
                <span className="sr-only">Favorite</span>
              </th>
              <SortHead leads column="ticker" className={COLUMNS.name} sorting={sorting} onSort={setSorting}>
                Market
              </SortHead>
              <th scope="col" className={`${HEAD} ${COLUMNS.bid}`}>
                Bid
              </th>
              <th scope="col" className={`${HEAD} ${COLUMNS.ask}`}>
                Ask
              </th>
              <SortHead column="spread" className={COLUMNS.spread} sorting={sorting} onSort={setSorting}>
                Spread (pips)
              </SortHead>
              <SortHead column="change" className={COLUMNS.day} sorting={sorting} onSort={setSorting}>
                Day
              </SortHead>
              <th scope="col" className={`${HEAD} ${COLUMNS.state}`}>
                State
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <MarketRowView
                key={row.ticker}
                store={store}
                asked={asked}
                row={row}
                onShown={onShown}
                favorite={favorites.includes(row.ticker)}
                onToggle={toggle}
              />
            ))}
          </tbody>
        </table>
        {shown.length === 0 ? (
          <p role="status" className="border-line border-t p-6 text-ink-soft text-sm leading-6">
            {text === "" ? (EMPTY[group] ?? "This group has no markets.") : `No market matches “${text}”.`}
          </p>
        ) : null}
      </div>
    </>
  );
}
