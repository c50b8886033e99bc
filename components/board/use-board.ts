"use client";

import { useEffect, useState, useSyncExternalStore } from "react";
import { type BoardRow, type BoardStore, createBoardStore, type Feed } from "./board-store";

const PAGE: Feed = { by: "page" };

/** A board that starts from the rows of the page and is kept fresh while it is seen; without a demo key it stands still. */
export function useBoardStore(rows: readonly BoardRow[], demoKey: string | undefined): BoardStore {
  const [store] = useState(() =>
    createBoardStore({ rows, demoKey: demoKey ?? "", load: () => import("./live-market").then(({ connect }) => connect) }),
  );
  useEffect(() => (demoKey === undefined ? undefined : store.start()), [store, demoKey]);
  return store;
}

/** A row as it is now. */
export function useRow(store: BoardStore, row: BoardRow): BoardRow {
  return useSyncExternalStore(
    (listener) => store.followRow(row.ticker, listener),
    () => store.row(row.ticker) ?? row,
    () => row,
  );
}

/** Where the board has its prices from now. */
export function useFeed(store: BoardStore): Feed {
  return useSyncExternalStore(store.followFeed, store.feed, () => PAGE);
}
