import type { FinalDisplayState, StatusReason } from "./status";

/** Prices in the quote currency. */
interface BoardPrice {
  readonly bid: number;
  readonly ask: number;
  /** Change in percent since the last trading day; null when unknown. */
  readonly change_pct: number | null;
  /** Unix milliseconds. */
  readonly time_msc: number;
}

/** One row of the board on the home page and the status page. */
export interface BoardRow {
  readonly ticker: string;
  /** Decimal places of its prices. */
  readonly digits: number;
  /** Null before the first quote. */
  readonly price: BoardPrice | null;
  readonly state: FinalDisplayState;
  readonly reason: StatusReason | null;
}
