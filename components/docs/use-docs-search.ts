"use client";

import { useEffect, useState } from "react";
import { type DocsHit, searchDocs } from "#lib/docs/search-docs";

export type { DocsHit } from "#lib/docs/search-docs";

/** Where the index of the docs is. */
export const DOCS_INDEX = "/docs/search.json";
const QUERY_MIN_CHARACTERS = 2;
const NONE: readonly DocsHit[] = [];

/** Matches in the docs, and whether they belong to the query. */
interface DocsSearch {
  /** While `pending`, those of an earlier query. */
  readonly hits: readonly DocsHit[];
  readonly pending: boolean;
}

/** The matches in the docs for a query. The index is loaded with the first query; without it the search finds nothing. */
export function useDocsSearch(query: string): DocsSearch {
  const [found, setFound] = useState({ query: "", hits: NONE });
  const wanted = query.trim();
  const enough = wanted.length >= QUERY_MIN_CHARACTERS;
  useEffect(() => {
    if (!enough) return;
    let current = true;
    searchDocs(DOCS_INDEX, wanted)
      .catch(() => NONE)
      .then((hits) => {
        if (current) setFound({ query: wanted, hits });
      });
    return () => {
      current = false;
    };
  }, [wanted, enough]);
  return enough ? { hits: found.hits, pending: found.query !== wanted } : { hits: NONE, pending: false };
}
