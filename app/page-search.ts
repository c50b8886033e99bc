/** What a page with a query is given. */
export interface PageSearch {
  readonly searchParams: Promise<Readonly<Record<string, string | string[] | undefined>>>;
}
