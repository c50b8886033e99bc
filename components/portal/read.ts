"use client";

import useSWR, { type SWRConfiguration, type SWRResponse, useSWRConfig } from "swr";
import useSWRInfinite from "swr/infinite";
import { type ApiFailure, callPortal, dataOf } from "./api";
import { leaveForSignIn } from "./leave";

/** Rows that a browser keeps of one log; use filters to see older ones. */
const KEPT_MAX_ROWS = 2_000;

/** A read of the portal: `data` once it has come, `error` if it failed, `mutate()` reads it again. */
export type Read<Data> = SWRResponse<Data, ApiFailure>;
type ReadOptions<Data> = SWRConfiguration<Data, ApiFailure>;

/** A failure stays on the page with a button to try again; polling sets its own retries. */
export const READ_DEFAULTS = { shouldRetryOnError: false, revalidateOnFocus: false } as const;

/** Reads a path of the portal. Never resolves when the session has ended: the page is left. @throws ApiFailure */
async function readPortal<Data>(path: string): Promise<Data> {
  const result = await callPortal<Data>("GET", path);
  if ("data" in result || result.failure.id !== "unauthorized") return dataOf(result);
  leaveForSignIn();
  return new Promise(() => undefined);
}

/**
 * Reads a path below /api/portal, with its query; null reads nothing, for a path that is not known yet. Pass what the server
 * rendered as `fallbackData`.
 */
export function usePortal<Data>(path: string | null, options?: ReadOptions<Data>): Read<Data> {
  return useSWR<Data, ApiFailure>(path, readPortal<Data>, { ...READ_DEFAULTS, ...options });
}

/** Reads again what the page has read of this path and of those below it; lists that are read page by page have a `reload` of their own. */
export function useReadAgain(path: string): () => void {
  const { mutate } = useSWRConfig();
  return () => void mutate((key) => typeof key === "string" && (key === path || key.startsWith(`${path}/`)));
}

interface Page<Row> {
  readonly items: readonly Row[];
  readonly next_before: string | null;
}

/** A log that is read backwards, page by page. */
interface Pages<Row> {
  /** All rows so far; undefined until the first page has come. */
  readonly items: readonly Row[] | undefined;
  readonly failure: ApiFailure | undefined;
  /** True while an older page is loading. */
  readonly busy: boolean;
  /** Reads the next older page; undefined when there is none, or the browser holds enough rows. */
  readonly more: (() => void) | undefined;
  /** Starts over from the newest page. */
  reload(): void;
}

interface PagesOptions {
  /** True to keep the pages already read; otherwise each further page also reads the first one again. */
  readonly isFixed?: boolean;
  /** Reads the first page again so often while the page is visible; 0 for never. */
  readonly refreshMs?: number;
}

/** Reads a log of the portal; `query` starts with its question mark, or is empty. */
export function usePages<Row>(path: string, query: string, { isFixed = false, refreshMs = 0 }: PagesOptions = {}): Pages<Row> {
  const keyOf = (_index: number, previous: Page<Row> | null) => {
    if (previous === null) return path + query;
    const { next_before: before } = previous;
    return before === null ? null : `${path}${query}${query === "" ? "?" : "&"}before=${encodeURIComponent(before)}`;
  };
  const {
    data: pages,
    error,
    size,
    setSize,
    mutate,
  } = useSWRInfinite<Page<Row>, ApiFailure>(keyOf, readPortal<Page<Row>>, {
    ...READ_DEFAULTS,
    revalidateFirstPage: !isFixed,
    refreshInterval: refreshMs,
  });
  const items = pages?.flatMap((page) => page.items);
  const busy = error === undefined && pages !== undefined && pages.length < size;
  const isLast = pages === undefined || pages.at(-1)?.next_before === null || (items?.length ?? 0) >= KEPT_MAX_ROWS;
  return {
    items,
    failure: error,
    busy,
    more: isLast ? undefined : () => void setSize(size + 1),
    // Pages that are not read again by themselves are by `mutate`.
    reload: () => void setSize(1).then(() => mutate()),
  };
}
