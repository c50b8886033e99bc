"use client";

import { staticClient } from "fumadocs-core/search/client/orama-static";
import { useEffect, useState } from "react";

const INDEX = "/docs/search.json";
const QUERY_MIN_CHARACTERS = 2;
const HITS_MAX_COUNT = 8;
const NONE: readonly DocsHit[] = [];

/** A place in the documentation that fits what was typed. */
export interface DocsHit {
  readonly id: string;
  readonly href: string;
  readonly text: string;
  /** The page it is on, where it is a part of one. */
  readonly page: string | undefined;
}

const MARKS = /<\/?mark>|[`*]/g;

async function search(query: string): Promise<DocsHit[]> {
  const found = await staticClient({ from: INDEX }).search(query);
  let page: string | undefined;
  const hits = found.map(({ id, url, type, content }) => {
    const text = String(content).replace(MARKS, "");
    if (type === "page") page = text;
    return { id, href: url, text, page: type === "page" ? undefined : page };
  });
  return hits.slice(0, HITS_MAX_COUNT);
}

/** What of the documentation fits a query. The index is loaded with the first one; without it nothing is found. */
export function useDocsSearch(query: string): readonly DocsHit[] {
  const [found, setFound] = useState(NONE);
  const wanted = query.trim();
  const enough = wanted.length >= QUERY_MIN_CHARACTERS;
  useEffect(() => {
    if (!enough) return;
    let current = true;
    search(wanted)
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
