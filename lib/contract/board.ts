import type { FinalDisplayState, StatusReason } from "./status";

/** Prices in the quote currency. */
interface BoardPrice {
  readonly bid: number;
  readonly ask: number;
  /** Change in percent since the last trading day; null when unknown. */
  readonly change_pct: number | null;
  /** Figures of the trading day, on pages that show them; null when unknown. */
  readonly bid_high?: number | null;
  readonly bid_low?: number | null;
  readonly open?: number | null;
  readonly close?: number | null;
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
