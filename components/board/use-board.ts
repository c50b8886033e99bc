"use client";

import { useEffect, useState, useSyncExternalStore } from "react";
import type { BoardRow } from "#lib/contract/board";
import type { Credential } from "../portal/credential";
import { whenIdle } from "../portal/when-idle";
import { type BoardStore, type Connect, createBoardStore } from "./board-store";
import type { Feed } from "./feed";

const PAGE: Feed = { by: "page" };

/** Loads what connects to the service, once the page itself has started. */
export async function loadLiveMarket(): Promise<Connect> {
  await whenIdle();
  return (await import("./live-market")).connect;
}

/** A board that starts from the rendered rows and updates while the page is visible; without a credential it never updates. */
export function useBoardStore(rows: readonly BoardRow[], credential: Credential | undefined): BoardStore {
  const [store] = useState(() => createBoardStore({ rows, credential, load: loadLiveMarket }));
  useEffect(() => store.start(), [store]);
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
