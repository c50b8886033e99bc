/** The operations that a link can stand for. They stand alone so that a page that names them does not load the contract. */
export const LINKED_IDS = [
  "klines",
  "marketSummary",
  "ticks",
  "file",
  "latestQuotes",
  "latestSnapshots",
  "conversion",
  "marketStatus",
  "instruments",
] as const;
/** The name under which calls of links are counted and logged. */
export const LINK_ID = "link";
export type LinkedId = (typeof LINKED_IDS)[number];
