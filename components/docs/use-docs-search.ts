"use client";

import { useEffect, useState } from "react";
import { type DocsHit, searchDocs } from "./search-docs";

export type { DocsHit } from "./search-docs";

const INDEX = "/docs/search.json";
const QUERY_MIN_CHARACTERS = 2;
const NONE: readonly DocsHit[] = [];

/** What of the documentation fits a query. The index is loaded with the first one; without it nothing is found. */
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
