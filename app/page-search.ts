/** The props of a page with a query. */
export interface PageSearch {
  readonly searchParams: Promise<Readonly<Record<string, string | string[] | undefined>>>;
}
