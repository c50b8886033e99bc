import type { Gap, PushMessage, StreamState } from "#lib/client/index";

/** The state of one ticker. */
export interface BoardRow {
  readonly ticker: string;
  /** The latest record; undefined before the first. */
  readonly record: PushMessage | undefined;
  /** The reference price of changes: the bid of the first record, or the close for klines. */
  readonly firstPrice: number | undefined;
  /** Decimal places seen so far: the service writes 1.0850 as 1.085. */
  readonly decimals: number;
  /** The last received `final_display_state` of the market. */
  readonly market: string | undefined;
  /** Records that the service merged, and records that are missing. */
  readonly merged: number;
  readonly gaps: number;
  /** When the latest record arrived, Unix milliseconds. */
  readonly heardAtMs: number | undefined;
}

/** The state of the connection, shown above the table. */
interface BoardConnection {
  readonly state: StreamState;
  readonly url: string;
  /** Details: the venue and connection id, or why and how long it waits. */
  readonly note: string;
}

/** Everything that the table shows. */
export interface BoardView {
  readonly title: string;
  readonly connection: BoardConnection;
  readonly rows: readonly BoardRow[];
  /** The last error; empty for none. */
  readonly trouble: string;
}

/** Keeps the latest state of everything that a stream sends. */
export interface Board {
  readonly view: BoardView;
  record(record: PushMessage, nowMs: number): void;
  gap(gap: Gap): void;
  market(ticker: string, state: string): void;
  connection(state: StreamState, note: string): void;
  trouble(words: string): void;
}

/** The price that represents a record: the bid, or a kline's close, which is also a bid. */
export function priceOf(record: PushMessage): number {
  return record.type === "kline" ? record.data.close : record.data.bid;
}

function decimalsOf(record: PushMessage): number {
  const { data } = record;
  const prices = data.type === "kline" ? [data.open, data.high, data.low, data.close] : [data.bid, data.ask];
  return Math.max(...prices.map((price) => String(price).split(".")[1]?.length ?? 0));
}

const emptyRow = (ticker: string): BoardRow => ({
  ticker,
  record: undefined,
  firstPrice: undefined,
  decimals: 0,
  market: undefined,
  merged: 0,
  gaps: 0,
  heardAtMs: undefined,
});

/** Makes a board of these tickers, in this order. */
export function createBoard(title: string, url: string, tickers: readonly string[]): Board {
  const rows = new Map<string, BoardRow>(tickers.map((ticker) => [ticker, emptyRow(ticker)]));
  let connection: BoardConnection = { state: "idle", url, note: "" };
  let trouble = "";

  function change(ticker: string, next: (row: BoardRow) => Partial<BoardRow>): void {
    const row = rows.get(ticker);
    if (row !== undefined) rows.set(ticker, { ...row, ...next(row) });
  }

  return {
    get view() {
      return { title, connection, rows: [...rows.values()], trouble };
    },
    record(record, nowMs) {
      change(record.ticker, (row) => ({
        record,
        firstPrice: row.firstPrice ?? priceOf(record),
        decimals: Math.max(row.decimals, decimalsOf(record)),
        merged: row.merged + (record.merged ?? 0),
        heardAtMs: nowMs,
      }));
    },
    // A new epoch began: records are missing, but their number is unknown.
    gap: ({ ticker, expected, received }) =>
      change(ticker, ({ gaps }) => ({ gaps: gaps + (expected === null ? 1 : received - expected) })),
    market: (ticker, market) => change(ticker, () => ({ market })),
    connection(state, note) {
      connection = { state, url, note };
    },
    trouble(words) {
      trouble = words;
    },
  };
}
