"use client";

import { useEffect } from "react";
import { usePages } from "../../portal/read";

/**
 * Reads a list of the portal page by page to its end, and is `complete` then. A page holds what was read within some time, so
 * reading it again would give another one.
 */
export function useAllPages<Row>(path: string, query: string) {
  const { items, failure, busy, more, reload } = usePages<Row>(path, query, { isFixed: true });
  const isReading = items === undefined || busy;
  useEffect(() => {
    if (!isReading && failure === undefined) more?.();
  }, [isReading, failure, more]);
  return { items, failure, reload, complete: failure === undefined && !isReading && more === undefined };
}
