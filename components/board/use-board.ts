"use client";

import { useEffect, useState, useSyncExternalStore } from "react";
import type { BoardRow } from "#lib/contract/board";
import { whenIdle } from "../portal/when-idle";
import { type BoardStore, type Connect, createBoardStore } from "./board-store";
import type { Feed } from "./feed";

const PAGE: Feed = { by: "page" };

/** Loads what connects to the service, once the page itself has started. */
export async function loadLiveMarket(): Promise<Connect> {
  await whenIdle();
  return (await import("./live-market")).connect;
}

/** A board that starts from the rendered rows and updates while the page is visible; without a demo key it never updates. */
export function useBoardStore(rows: readonly BoardRow[], demoKey: string | undefined): BoardStore {
  const [store] = useState(() => createBoardStore({ rows, demoKey: demoKey ?? "", load: loadLiveMarket }));
  useEffect(() => (demoKey === undefined ? undefined : store.start()), [store, demoKey]);
  return store;
}

/** The current state of a row. */
export function useRow(store: BoardStore, row: BoardRow): BoardRow {
  return useSyncExternalStore(
    (listener) => store.followRow(row.ticker, listener),
    () => store.row(row.ticker) ?? row,
    () => row,
  );
}

/** Where the board currently gets its prices. */
export function useFeed(store: BoardStore): Feed {
  return useSyncExternalStore(store.followFeed, store.feed, () => PAGE);
}
