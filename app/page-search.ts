/** The props of a page with a query. */
export interface PageSearch {
  readonly searchParams: Promise<Readonly<Record<string, string | string[] | undefined>>>;
}

/** The query as a page keeps it in a link back to itself: with its question mark, empty without any. */
export function searchText(asked: Awaited<PageSearch["searchParams"]>): string {
  const single = Object.entries(asked).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return single.length === 0 ? "" : `?${new URLSearchParams(single)}`;
}
