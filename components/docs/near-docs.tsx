"use client";

import Link from "next/link";
import { useEffect, useState } from "react";
import { type DocsHit, nearDocs } from "#lib/docs/search-docs";
import { DOCS_INDEX } from "./use-docs-search";

/** The pages of the docs that have the words of an address without a page; nothing until they are found. */
export function NearDocs({ words }: { words: string }) {
  const [hits, setHits] = useState<readonly DocsHit[]>([]);
  useEffect(() => {
    let current = true;
    nearDocs(DOCS_INDEX, words).then(
      (found) => current && setHits(found),
      // Without the index nothing is near.
      () => current && setHits([]),
    );
    return () => {
      current = false;
    };
  }, [words]);
  if (hits.length === 0) return null;
  return (
    <>
      <h2 className="mt-8 mb-3 font-medium">Similar pages</h2>
      <ul className="overflow-hidden rounded-xl border border-line bg-surface">
        {hits.map(({ id, href, text, page, excerpt }) => (
          <li key={id} className="border-line border-t first:border-t-0">
            <Link prefetch={false} href={href} className="block px-4 py-3 text-sm leading-6 hover:bg-sunken/60">
              <span className="font-medium text-accent">{text}</span>
              <span className="block truncate text-ink-soft">{[page, excerpt].filter(Boolean).join(" · ")}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
