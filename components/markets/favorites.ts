"use client";

import { useEffect, useState } from "react";
import { recall, remember } from "../portal/device-storage";

const STORED_AS = "spotwire.markets.favorites";
/** More than a venue lists. */
const FAVORITES_MAX_COUNT = 1_000;

/** The tickers in a stored value; none when it is anything else: other code may write there too. */
export function favoritesIn(stored: unknown): readonly string[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter((one): one is string => typeof one === "string").slice(0, FAVORITES_MAX_COUNT);
}

/** The favorites of this device, none until they are read, and a function that adds or removes one. */
export function useFavorites() {
  const [favorites, setFavorites] = useState<readonly string[]>([]);
  useEffect(() => setFavorites(favoritesIn(recall(STORED_AS))), []);
  function toggle(ticker: string): void {
    const next = favorites.includes(ticker) ? favorites.filter((one) => one !== ticker) : [...favorites, ticker];
    setFavorites(next);
    // Where storage is full or forbidden, the star is gone with the page.
    remember(STORED_AS, next);
  }
  return { favorites, toggle };
}
