"use client";

import { useEffect, useState } from "react";
import { type DocsHit, searchDocs } from "./search-docs";

export type { DocsHit } from "./search-docs";

const INDEX = "/docs/search.json";
const QUERY_MIN_CHARACTERS = 2;
const NONE: readonly DocsHit[] = [];

/** The matches in the docs for a query. The index is loaded with the first query; without it the search finds nothing. */
export function useDocsSearch(query: string): readonly DocsHit[] {
  const [found, setFound] = useState(NONE);
  const wanted = query.trim();
  const enough = wanted.length >= QUERY_MIN_CHARACTERS;
  useEffect(() => {
    if (!enough) return;
    let current = true;
    searchDocs(INDEX, wanted)
      .catch(() => [])
      .then((hits) => {
        if (current) setFound(hits);
      });
    return () => {
      current = false;
    };
  }, [wanted, enough]);
  return enough ? found : NONE;
}
