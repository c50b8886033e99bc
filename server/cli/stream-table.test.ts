import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { quote } from "#lib/testing/scripted-service";
import { createBoard } from "./stream-board";
import { renderBoard } from "./stream-table";

const SIZE = { columns: 80, rows: 24 };

/** A board with a record of each kind. */
function seenBoard() {
  const board = createBoard("quote", "http://localhost:3000", ["EURUSD", "XAUUSD", "TESTMISSING"]);
  board.connection("open", "sandbox, connection c-1");
  board.record(quote("EURUSD", 12_344), 0);
  board.record(quote("EURUSD", 12_347, { merged: 2, data: { ...quoteExample, bid: 1.0855, ask: 1.08558 } }), 9_600);
  board.record(quote("XAUUSD", 812, { data: { ...quoteExample, ticker: "XAUUSD", bid: 2650.12, ask: 2650.3, spread: 0.18 } }), 0);
  board.market("EURUSD", "open");
  board.market("XAUUSD", "closed");
  board.market("TESTMISSING", "open_data_missing");
  board.gap({ stream: "quote", ticker: "XAUUSD", timeframe: undefined, epoch: "e1", expected: 800, received: 812 });
  return board;
}

describe("the table", () => {
  test("the table shows each ticker with its prices, its market and its missing records", () => {
    expect(renderBoard(seenBoard().view, 10_000, { ...SIZE, columns: 90 })).toEqual([
      "quote  http://localhost:3000",
      "open  sandbox, connection c-1",
      "",
      "TICKER           BID      ASK   SPREAD    CHANGE  MARKET     SEQ  MERGED  GAPS     AGE",
      "EURUSD       1.08550  1.08558  0.00008  +0.00007  open     12347       2     0  400 ms",
      "XAUUSD       2650.12  2650.30     0.18      0.00  closed     812       0    12    10 s",
      "TESTMISSING        –        –        –         –  missing      –       0     0       –",
    ]);
  });

  test("the table shows klines with their four prices", () => {
    const board = createBoard("kline H1", "http://localhost:3000", ["EURUSD"]);
    board.record({ ...quote("EURUSD", 5), type: "kline", timeframe: "H1", closed: false, data: klineExample }, 0);
    expect(renderBoard(board.view, 250_000, { ...SIZE, columns: 100 }).slice(3)).toEqual([
      "TICKER     OPEN     HIGH      LOW    CLOSE   SPREAD   CHANGE  MARKET  SEQ  MERGED  GAPS    AGE",
      "EURUSD  1.08502  1.08571  1.08466  1.08543  0.00006  0.00000  –         5       0     0  4 min",
    ]);
  });

  test.each([120, 80, 60, 40, 20, 6])("the table fits %i columns, and the ticker is dropped last", (columns) => {
    const lines = renderBoard(seenBoard().view, 10_000, { columns, rows: 24 });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[3]?.startsWith("TICKER".slice(0, columns))).toBe(true);
  });

  test("the table counts the tickers that do not fit", () => {
    const board = createBoard(
      "quote",
      "http://localhost:3000",
      Array.from({ length: 50 }, (_, index) => `T${index}AA`),
    );
    board.trouble("unknown_ticker: T7AA");
    const lines = renderBoard(board.view, 0, { columns: 80, rows: 12 });
    expect(lines).toHaveLength(12);
    expect(lines.slice(-4)).toEqual([expect.stringContaining("T4AA"), "… and 45 more", "", "unknown_ticker: T7AA"]);
  });

  test("the table never has more lines than the terminal", () => {
    for (let rows = 1; rows < 12; rows += 1)
      expect(renderBoard(seenBoard().view, 0, { columns: 80, rows }).length).toBeLessThanOrEqual(rows);
  });

  test("the table counts one gap for a new epoch", () => {
    const board = seenBoard();
    board.gap({ stream: "quote", ticker: "EURUSD", timeframe: undefined, epoch: "e2", expected: null, received: 1 });
    expect(board.view.rows[0]?.gaps).toBe(1);
  });
});
