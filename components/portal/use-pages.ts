"use client";

import { useState } from "react";
import { type ApiFailure, callPortal } from "./api";
import { usePortal } from "./use-portal";

/** Rows that one browser keeps of a log; further back it has to be narrowed by filters. */
const KEPT_MAX_ROWS = 2_000;

interface Page<Row> {
  readonly items: readonly Row[];
  readonly next_before: string | null;
}

/** A log that is read backwards page by page. */
interface Pages<Row> {
  /** All rows so far, undefined while the first are on their way. */
  readonly items: readonly Row[] | undefined;
  readonly failure: ApiFailure | undefined;
  readonly busy: boolean;
  /** Reads the next older page; undefined when there is none, or enough were read. */
  readonly more: (() => void) | undefined;
  reload(): void;
}

interface Older<Row> {
  /** The first page these follow. */
  readonly after: Page<Row>;
  readonly items: readonly Row[];
  readonly next: string | null;
}

/** Reads a log of the portal; `query` begins with its question mark, or is empty. */
export function usePages<Row>(path: string, query: string): Pages<Row> {
  const first = usePortal<Page<Row>>(path + query);
  const [older, setOlder] = useState<Older<Row>>();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const page = first.data;
  // Older rows of another query, or from before a reload, follow nothing that is shown.
  const following = older !== undefined && older.after === page ? older : undefined;
  const items = page === undefined ? undefined : [...page.items, ...(following?.items ?? [])];
  const next = following === undefined ? (page?.next_before ?? null) : following.next;

  async function readMore(after: Page<Row>, before: string): Promise<void> {
    setBusy(true);
    const result = await callPortal<Page<Row>>(
      "GET",
      `${path}${query}${query === "" ? "?" : "&"}before=${encodeURIComponent(before)}`,
    );
    setBusy(false);
    if ("failure" in result) return setFailure(result.failure);
    setOlder({ after, items: [...(following?.items ?? []), ...result.data.items], next: result.data.next_before });
  }

  const more =
    page === undefined || next === null || (items?.length ?? 0) >= KEPT_MAX_ROWS ? undefined : () => void readMore(page, next);
  const reload = () => {
    setFailure(undefined);
    first.reload();
  };
  return { items, failure: first.failure ?? failure, busy, more, reload };
}
