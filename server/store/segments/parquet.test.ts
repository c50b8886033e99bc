import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test, vi } from "vitest";
import { emptyColumns, SIDE_NAMES } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { SegmentDamaged } from "#lib/storage-errors";
import { MINUTE_MS } from "#lib/units";
import { decodeStatements, encodeStatements } from "./parquet";
import { segmentId } from "./parquet-file";
import { inPostgres, type Queries, type SegmentStore } from "./segment-store";
import { createSegments, saidBy } from "./segments";

const NAMES = { venue: "live", ticker: "EURUSD", timeframe: "M1" };

/** Any kline that a source can have said, as a row of numbers. A decimal has no negative zero, and no source a negative volume. */
const price = fc.oneof(
  fc.nat(2_000_000).map((points) => points / 100_000),
  fc.nat(2 ** 40).map((points) => points / 1_000),
  fc.integer().map((points) => points / 10 ** 7 || 0),
);
const anyNumber = fc.double({ noNaN: false }).map((value) => (value === 0 ? 0 : value));
const volume = fc.oneof(
  fc.nat(),
  fc.nat().map((parts) => parts / 8),
  fc.constant(Number.NaN),
);
const known = fc.oneof(fc.nat(2 ** 45), fc.constant(Number.NaN));
const rowOf = (prices: fc.Arbitrary<number>) =>
  fc.tuple(prices, prices, prices, prices, volume, fc.double({ noNaN: false }), prices, known, fc.integer({ min: 0, max: 3 }));

/** Statements of one or of several layers, of ordinary prices, of strikes among them, or of any numbers at all. */
const statements = fc
  .record({
    times: fc.array(fc.nat(4_000_000_000), { maxLength: 40 }),
    rows: fc.oneof(
      ...[price, fc.oneof(price, fc.constant(Number.NaN)), fc.oneof(price, anyNumber)].map((prices) =>
        fc.array(rowOf(prices), { minLength: 40, maxLength: 40 }),
      ),
    ),
    isOneLayer: fc.boolean(),
    /** Ask and mid prices of none, of some or of all klines. */
    sides: fc.oneof(
      fc.constant(null),
      ...[price, fc.oneof(price, fc.constant(Number.NaN))].map((prices) =>
        fc.array(fc.array(prices, { minLength: 8, maxLength: 8 }), { minLength: 40, maxLength: 40 }),
      ),
    ),
    digits: fc.nat(8),
  })
  .map(({ times, rows, isOneLayer, sides, digits }) => {
    const time = Float64Array.from(times).sort();
    const column = (at: number) => Float64Array.from(time, (_, row) => rows[isOneLayer && at > 6 ? 0 : row]?.[at] as number);
    const [open, high, low, close] = [column(0), column(1), column(2), column(3)];
    const [tickVolume, realVolume, spread, layer] = [column(4), column(5), column(6), Int32Array.from(column(8))];
    const side = (at: number) => Float64Array.from(sides === null ? [] : time, (_, row) => sides?.[row]?.[at] as number);
    // A kline has all of its ask and mid prices, or none.
    const isKnown = (row: number) => sides?.[row]?.every((value) => !Number.isNaN(value)) === true;
    const names = SIDE_NAMES.map((name, at) => {
      const values = side(at).map((value, row) => (isKnown(row) ? value : Number.NaN));
      return [name, values.length > 0 && [...values.keys()].some(isKnown) ? values : new Float64Array(0)];
    });
    return {
      said: {
        time,
        open,
        high,
        low,
        close,
        tickVolume,
        realVolume,
        spread,
        known: column(7),
        layer,
        ...Object.fromEntries(names),
      } as Statements,
      digits,
    };
  });

/** The bits of every value; all NaN are the same one, which means that nothing is known. */
const bits = (said: Statements) =>
  Object.fromEntries(Object.entries(said).map(([name, column]) => [name, Buffer.from(column.slice().buffer).toString("hex")]));

test("reading what was written returns every bit of it, also of unknown values, of many layers and of no row", async () => {
  await fc.assert(
    fc.asyncProperty(statements, async ({ said, digits }) => {
      const bytes = encodeStatements(said, NAMES, digits);
      expect(bits(await decodeStatements(bytes))).toEqual(bits(said));
      // A file of which one part is read from a longer buffer.
      const padded = new Uint8Array(bytes.length + 9);
      padded.set(bytes, 5);
      expect(bits(await decodeStatements(padded.subarray(5, 5 + bytes.length)))).toEqual(bits(said));
    }),
    { numRuns: 300 },
  );
});

test("the same statements are the same bytes, so that they have one name", () => {
  fc.assert(
    fc.property(statements, ({ said, digits }) => {
      const [first, second] = [encodeStatements(said, NAMES, digits), encodeStatements(said, NAMES, digits)];
      expect(Buffer.compare(first, second)).toBe(0);
    }),
    { numRuns: 20 },
  );
});

test("a file that is cut off anywhere is refused as damaged", async () => {
  await fc.assert(
    fc.asyncProperty(statements, fc.nat(), async ({ said, digits }, at) => {
      const bytes = encodeStatements(said, NAMES, digits);
      await expect(decodeStatements(bytes.subarray(0, at % bytes.length))).rejects.toThrow(SegmentDamaged);
    }),
    { numRuns: 100 },
  );
});

test("a file with another byte anywhere is refused by its name, before anything of it is read", async () => {
  await fc.assert(
    fc.asyncProperty(statements, fc.nat(), fc.integer({ min: 1, max: 255 }), async ({ said, digits }, at, change) => {
      const bytes = encodeStatements(said, NAMES, digits).slice();
      const id = segmentId(bytes);
      bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ change;
      const store: SegmentStore = { ...inPostgres, get: async () => new Map([[id, bytes]]) };
      const reading = createSegments(store, 8).read(null as unknown as Queries, [id]);
      await expect(reading).rejects.toThrow(new SegmentDamaged(`segment ${id} was altered: its bytes have another SHA-256`));
    }),
    { numRuns: 100 },
  );
});

test("a segment that was read stays in memory until none was read for a minute", async () => {
  const said = saidBy({ ...emptyColumns(1), time: Float64Array.of(60) }, 1, 1_000);
  const bytes = encodeStatements(said, NAMES, 5);
  const id = segmentId(bytes);
  const get = vi.fn<SegmentStore["get"]>(async () => new Map([[id, bytes]]));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const segments = createSegments({ ...inPostgres, get }, 8);
    const read = async (afterMs: number) => {
      vi.advanceTimersByTime(afterMs);
      await segments.read(null as unknown as Queries, [id]);
      return get.mock.calls.length;
    };
    expect([await read(0), await read(MINUTE_MS - 1), await read(MINUTE_MS - 1), await read(MINUTE_MS)]).toEqual([1, 1, 1, 2]);
  } finally {
    vi.useRealTimers();
  }
});

const column = (name: string, value: number) => ({ name, data: Float64Array.of(value) });
const COLUMNS = ["time", "open", "high", "low", "close", "tick_volume", "real_volume", "spread", "layer", "known_at"];
const foreign = (kvMetadata: { key: string; value: string }[], columns = COLUMNS) =>
  new Uint8Array(parquetWriteBuffer({ columnData: columns.map((name) => column(name, 1)), kvMetadata }));

test.each<[what: string, bytes: Uint8Array]>([
  ["nothing", new Uint8Array(0)],
  ["a text", Buffer.from("time,open,high,low,close\n1,2,3,4,5\n")],
  ["the end of a file alone", Buffer.from("\xff\xff\xff\x7fPAR1", "latin1")],
  ["a Parquet file of another program", foreign([])],
  ["one without prices", foreign([{ key: "spotwire.format", value: "1" }], ["time", "layer"])],
  ["a file of a later format", foreign([{ key: "spotwire.format", value: "2" }])],
])("%s is refused as damaged", async (_, bytes) => {
  await expect(decodeStatements(bytes)).rejects.toThrow(/^not a segment: /);
  await expect(decodeStatements(bytes)).rejects.toThrow(SegmentDamaged);
});
