import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { closeSentence } from "./closes";
import { createStreamBook, LOG_MAX_ENTRIES } from "./stream-state";

const quote = (seq: number, more: object = {}) =>
  JSON.stringify({ type: "quote", event: "update", ticker: "EURUSD", epoch: "k1", seq, data: quoteExample, ...more });
const kline = (seq: number, closed: boolean) =>
  JSON.stringify({
    type: "kline",
    event: "update",
    ticker: "EURUSD",
    timeframe: "M1",
    closed,
    epoch: "k1",
    seq,
    data: klineExample,
  });
const closed = { ticker: "EURUSD", final_display_state: "closed", reason: "weekend", next_open_at: "2026-01-04T22:00:00.000Z" };

function bookOf(...texts: string[]) {
  const book = createStreamBook();
  for (const text of texts) book.received(text, 0);
  return book;
}

describe("the state of a console", () => {
  test("the console counts records, gaps and merged records, each record once", () => {
    const book = bookOf(
      quote(1),
      quote(2),
      quote(2),
      quote(5),
      quote(9, { merged: 3 }),
      quote(1, { epoch: "k2", event: "snapshot" }),
    );
    expect(book.view(0).rows).toEqual([
      expect.objectContaining({ ticker: "EURUSD", records: 5, gaps: 1, merged: 3, position: { epoch: "k2", seq: 1 } }),
    ]);
    expect(book.view(0).received).toBe(6);
  });

  test("the console shows each stream and timeframe of a ticker separately, with its last value", () => {
    const { rows } = bookOf(quote(1), kline(4, false), kline(5, true)).view(0);
    expect(rows.map(({ stream, value }) => [stream, value])).toEqual([
      ["quote", "1.08543 / 1.08551"],
      ["kline M1", "1.08502 1.08571 1.08466 1.08543 closed"],
    ]);
  });

  test("a line of the log says the ticker and the values of its record, and keeps the message as transferred", () => {
    const [first, second, third] = bookOf(quote(7), kline(8, true), '{"type":"pong"}').view(0).entries;
    expect(first).toMatchObject({ type: "quote", brief: "EURUSD 1.08543 / 1.08551 update #7", text: quote(7) });
    expect(second?.brief).toBe("EURUSD 1.08502 1.08571 1.08466 1.08543 closed update #8");
    expect(third?.brief).toBe('{"type":"pong"}');
  });

  test("the log of the console is limited, and clearing it keeps the counters", () => {
    const book = createStreamBook();
    for (let seq = 1; seq <= LOG_MAX_ENTRIES + 10; seq += 1) book.received(quote(seq), seq);
    const { entries, received, rows } = book.view(0);
    expect([entries.length, entries.at(-1)?.at, received, rows[0]?.records]).toEqual([LOG_MAX_ENTRIES, 510, 510, 510]);
    book.clear();
    expect(book.view(0)).toMatchObject({ entries: [], received: 510 });
  });

  test("the console shows which tickers are quiet, until they deliver a record or a heartbeat no longer lists them", () => {
    const ack = JSON.stringify({
      type: "ack",
      method: "subscribe",
      data: { accepted: ["EURUSD"], rejected: [], quiet: [closed] },
    });
    const book = bookOf(ack, quote(1, { event: "snapshot" }));
    expect(book.view(0).quiet).toEqual([{ text: "EURUSD is closed (weekend).", opensAt: closed.next_open_at }]);
    book.received(quote(2), 0);
    expect(book.view(0).quiet).toEqual([]);
    book.received(JSON.stringify({ type: "heartbeat", quiet: [closed] }), 0);
    expect(book.view(0).quiet).toHaveLength(1);
    book.received(JSON.stringify({ type: "heartbeat", quiet: [] }), 0);
    expect(book.view(0).quiet).toEqual([]);
  });

  test("the console repeats the service's refusals, and forgets a ticker after unsubscribing", () => {
    const rejected = [
      { ticker: "EUR/USD", code: 40003, message: "invalid_ticker", detail: "No separator.", suggestion: "EURUSD" },
    ];
    const book = bookOf(
      quote(1),
      JSON.stringify({ type: "ack", method: "subscribe", data: { accepted: [], rejected, quiet: [] } }),
    );
    expect(book.view(0).refused).toEqual(["EUR/USD was not accepted: No separator. Did you mean EURUSD?"]);
    book.received(JSON.stringify({ type: "error", data: { detail: "Too fast." } }), 0);
    expect(book.view(0).refused).toEqual(["Too fast."]);
    book.received(JSON.stringify({ type: "ack", method: "unsubscribe", data: { accepted: ["EURUSD"], rejected: [] } }), 0);
    expect(book.view(0)).toMatchObject({ rows: [], refused: [] });
  });

  test("the console shows an invalid message and continues", () => {
    const book = bookOf("not json", "[]", '"text"', quote(1));
    expect(book.view(0).entries).toHaveLength(4);
    expect(book.view(0).rows).toHaveLength(1);
  });
});

describe("a close", () => {
  test.each([1000, 1001, 1002, 1006, 1009, 1011, 4008, 4029, 4400, 4401, 4403, 4999, null])(
    "the close code %s has an explanation",
    (code) => {
      expect(closeSentence(code)).toMatch(/^[A-Z].*\.$/);
    },
  );
});
