import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { MarketEvent } from "#server/events/event";
import { topicName } from "#server/events/topic";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { COLUMNS_TEXT, createRowReader, type Row, toRow } from "./wire";

type Columns = Record<MarketEvent["type"], string[]>;

const ticker = fc.stringMatching(/^[A-Z0-9]{3,20}$/);
const price = fc.double({ min: 1e-9, max: 1e9, noNaN: true });
const timeMs = fc.integer({ min: 0, max: 4_102_444_800_000 });
const count = fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true }));
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const prices = <Name extends string>(names: readonly Name[], value: fc.Arbitrary<number | null> = price) =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])) as Record<Name, fc.Arbitrary<number | null>>);
const NOW = ["bid", "ask", "mid", "spread"] as const;
const DAY = Object.keys(snapshotExample).filter((name) => !["type", "ticker", "time_msc", ...NOW].includes(name));

const place = fc.record(
  { epoch: fc.string(), seq: fc.integer({ min: 1 }), merged: fc.integer({ min: 1 }), restored: fc.constant(true) },
  { requiredKeys: ["epoch", "seq"] },
);
const head = fc.record({ ticker, time_msc: timeMs });
const quote = fc.tuple(head, prices(NOW)).map((parts) => Object.assign({ type: "quote" as const }, ...parts));
const snapshot = fc
  .tuple(head, prices(NOW), prices(DAY, orNull(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0))))
  .map((parts) => Object.assign({ type: "snapshot" as const }, ...parts));
const klineHead = fc.record({ ticker, timeframe: fc.constantFrom(...TIMEFRAMES), time: fc.nat(), tick_volume: count });
const kline = fc
  .tuple(klineHead, prices(["open", "high", "low", "close"]), fc.record({ real_volume: orNull(count), spread: orNull(price) }))
  .map((parts) => Object.assign({ type: "kline" as const }, ...parts));

/** Any event that an engine may publish. */
const event: fc.Arbitrary<MarketEvent> = fc
  .tuple(fc.oneof(quote, snapshot, kline), place, fc.boolean())
  .map(([record, where, closed]) => {
    const timeframe = record.type === "kline" ? record.timeframe : undefined;
    const topic = topicName(record.type, record.ticker, timeframe);
    const flags = record.type === "kline" && {
      closed,
      ...(closed && record.time % 2 === 1 && { corrected: true }),
      ...(closed && record.time % 4 === 1 && { removed: true }),
    };
    const sent = { type: record.type, topic, record, ...where, ...flags };
    return sent as unknown as MarketEvent;
  });

/** A row as it arrives: through JSON. */
const carried = (row: Row) => JSON.parse(JSON.stringify(row)) as Row;
const ownColumns = () => JSON.parse(COLUMNS_TEXT) as Columns;

describe("the wire format of events", () => {
  test("any event survives encoding and decoding, its record value by value", () => {
    const read = createRowReader(COLUMNS_TEXT);
    fc.assert(
      fc.property(event, (sent) => {
        const got = read(carried(toRow(sent)), sent.epoch);
        // -0 is 0 in JSON, for clients as for nodes.
        expect(got).toEqual(JSON.parse(JSON.stringify(sent)));
        expect(JSON.parse(JSON.stringify(got.record))).toEqual(JSON.parse(JSON.stringify(sent.record)));
        expect(Object.keys(got).sort()).toEqual(Object.keys(sent).sort());
      }),
      { numRuns: 500 },
    );
  });

  test("a decoded record is printed to clients byte for byte as the engine printed it", () => {
    const read = createRowReader(COLUMNS_TEXT);
    for (const record of [quoteExample, snapshotExample, klineExample])
      expect(JSON.stringify(read(carried(toRow(eventOf(record))), TEST_EPOCH).record)).toBe(JSON.stringify(record));
  });

  test("a decoded event has no field that the original lacks: no flag, no merged, and closed only on klines", () => {
    const read = createRowReader(COLUMNS_TEXT);
    for (const record of [quoteExample, snapshotExample, klineExample]) {
      const plain = eventOf(record);
      expect(Object.keys(read(carried(toRow(plain)), TEST_EPOCH)).sort()).toEqual(Object.keys(plain).sort());
    }
  });

  test("a row is decoded by the columns its batch names, in any order", () => {
    fc.assert(
      fc.property(event, fc.infiniteStream(fc.nat()), (sent, order) => {
        const columns = ownColumns();
        const own = columns[sent.type];
        const shuffled = own
          .map((name) => ({ name, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ name }) => name);
        const [kind, seq, flags, merged, ...values] = carried(toRow(sent));
        const row = [kind, seq, flags, merged, ...shuffled.map((name) => values[own.indexOf(name)])] as unknown as Row;
        const read = createRowReader(JSON.stringify({ ...columns, [sent.type]: shuffled }));
        expect(read(row, sent.epoch)).toEqual(JSON.parse(JSON.stringify(sent)));
      }),
    );
  });

  test("a decoded record keeps fields that a newer release adds, and tolerates those that an older one lacks", () => {
    const columns = ownColumns();
    const [kind, seq, flags, merged, ...values] = carried(toRow(eventOf(quoteExample, { seq: 7 })));
    const newer = createRowReader(JSON.stringify({ ...columns, quote: ["venue_time", ...columns.quote, "depth"] }));
    const got = newer([kind, seq, flags, merged, "12:00", ...values, { levels: 5 }], TEST_EPOCH);
    expect(got).toEqual({ ...eventOf(quoteExample, { seq: 7 }), record: got.record });
    expect(got.record).toEqual({ ...quoteExample, venue_time: "12:00", depth: { levels: 5 } });

    const { spread: _spread, ...without } = quoteExample;
    const older = createRowReader(JSON.stringify({ ...columns, quote: columns.quote.filter((name) => name !== "spread") }));
    const left = columns.quote.flatMap((name, index) => (name === "spread" ? [] : [values[index]]));
    expect(older([kind, seq, flags, merged, ...left], TEST_EPOCH).record).toStrictEqual(without);
  });

  test("a batch that declares an event kind of a newer release is readable by older ones", () => {
    const read = createRowReader(JSON.stringify({ ...ownColumns(), trade: ["ticker", "price"] }));
    expect(read(carried(toRow(eventOf(klineExample, { closed: true }))), TEST_EPOCH)).toEqual(
      eventOf(klineExample, { closed: true }),
    );
  });
});
