"use client";

import { useEffect } from "react";
import { usePages } from "../../portal/read";

/** Reads a list of the portal page by page to its end; `complete` once it is there. */
export function useAllPages<Row>(path: string, query: string) {
  const { items, failure, busy, more, reload } = usePages<Row>(path, query);
  const isReading = items === undefined || busy;
  useEffect(() => {
    if (!isReading && failure === undefined) more?.();
  }, [isReading, failure, more]);
  return { items, failure, reload, complete: failure === undefined && !isReading && more === undefined };
}
