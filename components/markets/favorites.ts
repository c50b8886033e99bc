"use client";

import { useEffect, useState } from "react";

const STORED_AS = "spotwire.markets.favorites";
/** More than a venue lists. */
const FAVORITES_MAX_COUNT = 1_000;

/** The tickers in a stored text; none when it holds anything else: other code may write there too. */
export function readFavorites(text: string | null): readonly string[] {
  try {
    const stored: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((one): one is string => typeof one === "string").slice(0, FAVORITES_MAX_COUNT);
  } catch {
    return [];
  }
}

/** The favorites of this device, none until they are read, and a function that adds or removes one. */
export function useFavorites() {
  const [favorites, setFavorites] = useState<readonly string[]>([]);
  useEffect(() => {
    try {
      setFavorites(readFavorites(localStorage.getItem(STORED_AS)));
    } catch {
      // The browser forbids storage: nothing is kept.
    }
  }, []);
  function toggle(ticker: string): void {
    const next = favorites.includes(ticker) ? favorites.filter((one) => one !== ticker) : [...favorites, ticker];
    setFavorites(next);
    try {
      localStorage.setItem(STORED_AS, JSON.stringify(next));
    } catch {
      // Full or forbidden: the star is gone with the page.
    }
  }
  return { favorites, toggle };
}
