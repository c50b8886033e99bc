"use client";

import { useMemo } from "react";
import useSWRImmutable from "swr/immutable";
import { marketPath } from "#lib/contract/markets";
import { namedInstruments, type SearchableInstrument, searchInstruments } from "#lib/instrument-search";

const LIST = "/markets/search.json";
const HITS_MAX_COUNT = 5;
const NONE: readonly SearchableInstrument[] = [];

/** A market that matches a query. */
export interface MarketHit {
  /** Path of its page; names it among all hits. */
  readonly id: string;
  readonly ticker: string;
  readonly name: string;
}

async function readList(path: string): Promise<readonly SearchableInstrument[]> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
  return response.json();
}

/** All instruments of the sandbox; `data` is undefined until they are loaded, and where they cannot be. */
export const useInstruments = () => useSWRImmutable(LIST, readList, { shouldRetryOnError: false });

/**
 * The markets that match a query, best first, at most five; none for an empty query. The list is loaded when this is first used; until then the search is
 * `pending`, and without it nothing is found.
 */
export function useMarketHits(query: string): { readonly hits: readonly MarketHit[]; readonly pending: boolean } {
  const { data, isLoading } = useInstruments();
  const hits = useMemo(() => {
    const all = data ?? NONE;
    const found = query.trim() === "" ? NONE : searchInstruments(all, query);
    return (found.length > 0 ? found : namedInstruments(all, query))
      .slice(0, HITS_MAX_COUNT)
      .map(({ ticker, name }) => ({ id: marketPath(undefined, ticker), ticker, name }));
  }, [data, query]);
  return { hits, pending: isLoading };
}
