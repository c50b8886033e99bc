"use client";

import { useEffect, useState } from "react";

/**
 * A part of the query of this page's URL, so that a reload and a link show the same; undefined where there is none, and until the page is
 * hydrated: the server renders one page for all readers, whatever else their URLs say.
 */
export function usePageQuery(name: string): readonly [string | undefined, (value: string | undefined) => void] {
  const [value, setValue] = useState<string>();
  useEffect(() => setValue(new URLSearchParams(window.location.search).get(name) ?? undefined), [name]);
  function put(next: string | undefined): void {
    const url = new URL(window.location.href);
    if (next === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, next);
    window.history.replaceState(null, "", url);
    setValue(next);
  }
  return [value, put];
}
