import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { columnsOf, rowsBetween } from "#lib/domain/columns";
import { SegmentDamaged, SegmentMissing } from "#lib/storage-errors";
import { HOUR_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { sweepSegments } from "#server/store/history/sweep";
import { encodeStatements } from "#server/store/segments/parquet";
import { segmentId } from "#server/store/segments/parquet-file";
import type { SegmentStore } from "#server/store/segments/segment-store";
import { createSegments, saidBy } from "#server/store/segments/segments";

/** A store, with what a test needs beside it. */
interface OpenStore {
  readonly store: SegmentStore;
  /** The same store as another process has it. */
  readonly other: SegmentStore;
  readonly pool: Database["pool"];
  /** Puts other bytes in the place of a segment. */
  alter(id: string, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

const klines = (value: number) =>
  saidBy(
    columnsOf([
      ...[60, 120, 180].map((time) => ({
        type: "kline" as const,
        ticker: "EURUSD",
        timeframe: "M1" as const,
        time,
        open: 1.1,
        high: 1.3,
        low: 1,
        close: value,
        tick_volume: 3,
        real_volume: null,
        spread: 0.0001,
      })),
    ]),
    7,
    1_000,
  );
const LATER_MS = 10 * HOUR_MS;

/** What tests do with a store that is opened before them. */
function scene(opened: () => OpenStore) {
  return {
    async put(bytes: Uint8Array = randomBytes(200)): Promise<string> {
      const id = segmentId(bytes);
      const { store, pool } = opened();
      await store.put(pool, id, bytes);
      return id;
    },
    listAll: (query: Partial<Parameters<SegmentStore["list"]>[1]> = {}) => {
      const { store, pool } = opened();
      return store.list(pool, { beforeMs: Date.now() + LATER_MS, after: "", limit: 10_000, ...query });
    },
  };
}

const absent = segmentId(randomBytes(8));

/** A store returns what it was given. */
function contentTests(opened: () => OpenStore): void {
  test("what is written stays in memory without the longer columns that it was a part of", async () => {
    const segments = createSegments(opened().store, 8);
    const part = rowsBetween(klines(1.25), 1, 2);
    const id = await segments.write(opened().pool, part, { ticker: "EURUSD", timeframe: "M1" }, 5);
    const kept = (await segments.read(opened().pool, [id])).get(id);
    expect(kept).toEqual(part);
    const columns = Object.values(kept ?? {});
    expect(columns).toHaveLength(18);
    const values = columns.reduce((sum, { length }) => sum + length, 0);
    for (const { buffer } of columns) expect(buffer.byteLength).toBe(8 * values);
  });

  test("the sizes of segments are told, in memory without those that are not there", async () => {
    const { put } = scene(opened);
    const { store, pool } = opened();
    const [small, large] = [await put(randomBytes(17)), await put(randomBytes(300_000))];
    const expected = new Map([
      [small, 17],
      [large, 300_000],
    ]);
    expect(new Map([...(await store.sizes(pool, [small, large]))].sort())).toEqual(new Map([...expected].sort()));
    await expect(store.sizes(pool, [small, absent])).rejects.toThrow(SegmentMissing);
    expect(await store.sizes(pool, [])).toEqual(new Map());
    const segments = createSegments(store, 8);
    const both = await segments.sizes(pool, [small, absent]);
    expect([...both]).toEqual([[small, 17]]);
    expect([...(await segments.sizes(pool, [small, small, large]))].sort()).toEqual([...expected].sort());
  });

  const { put } = scene(opened);
  test("a segment store returns exactly what was put, of any length, several at once and in any order", async () => {
    const contents = [
      randomBytes(1),
      randomBytes(4_000),
      randomBytes(2_000_000),
      ...Array.from({ length: 40 }, () => randomBytes(9)),
    ];
    const ids = await Promise.all(contents.map(put));
    const got = await opened().other.get(opened().pool, ids.toReversed());
    expect(got.size).toBe(ids.length);
    for (const [at, id] of ids.entries()) expect(Buffer.compare(got.get(id) as Uint8Array, contents[at] as Buffer)).toBe(0);
    expect(await opened().store.get(opened().pool, [])).toEqual(new Map());
  });

  test("a segment store names what it does not have, and returns the rest", async () => {
    const id = await put();
    await expect(opened().store.get(opened().pool, [id, absent])).rejects.toThrow(SegmentMissing);
    await expect(opened().store.get(opened().pool, [absent])).rejects.toThrow(absent);
    expect((await opened().store.get(opened().pool, [id])).has(id)).toBe(true);
    for (const [from, to] of [
      [0, 5],
      [0, 0],
    ] as const)
      await expect(opened().store.range(opened().pool, absent, from, to)).rejects.toThrow(SegmentMissing);
  });

  test.each([
    [0, 0],
    [0, 1],
    [3, 7],
    [7, 7],
    [199, 200],
    [0, 200],
    [190, 210],
    [200, 205],
  ])("a segment store returns the bytes from %i to %i, as far as there are any", async (from, to) => {
    const bytes = randomBytes(200);
    const part = await opened().store.range(opened().pool, await put(bytes), from, to);
    expect([...part]).toEqual([...bytes.subarray(from, to)]);
  });

  test("a segment store knows the sizes of what it has, and names what it does not have", async () => {
    const lengths = [1, 4_000, 300_000];
    const ids = await Promise.all(lengths.map((length) => put(randomBytes(length))));
    const sizes = await opened().other.sizes(opened().pool, ids);
    expect(ids.map((id) => sizes.get(id))).toEqual(lengths);
    await expect(opened().store.sizes(opened().pool, [ids[0] as string, absent])).rejects.toThrow(absent);
    expect(await opened().store.sizes(opened().pool, [])).toEqual(new Map());
  });

  test("a segment that was altered or cut off is refused by its name, and the others go on", async () => {
    const [first, second] = [1.2, 1.25].map((close) =>
      encodeStatements(klines(close), { venue: "live", ticker: "EURUSD", timeframe: "M1" }, 5),
    ) as [Uint8Array, Uint8Array];
    const [altered, whole] = [await put(first), await put(second)];
    const flipped = Uint8Array.from(first, (byte, at) => (at === 40 ? byte ^ 1 : byte));
    for (const wrong of [flipped, first.subarray(0, 100), new Uint8Array(0), second]) {
      await opened().alter(altered, wrong);
      const segments = createSegments(opened().store, 8);
      for (const read of [segments.read, segments.bytes]) {
        const reading = read(opened().pool, [whole, altered]);
        await expect(reading).rejects.toThrow(SegmentDamaged);
        await expect(reading).rejects.toThrow(altered);
      }
      expect(segments.suspects).toContain(altered);
    }
    const stored = await createSegments(opened().store, 8).bytes(opened().pool, [whole]);
    expect(Buffer.from(stored.get(whole) ?? []).equals(second)).toBe(true);
    const read = await createSegments(opened().store, 8).read(opened().pool, [whole]);
    expect(read.get(whole)).toEqual(klines(1.25));
    await opened().store.drop(opened().pool, [altered], Date.now() + HOUR_MS);
  });
}

/** A store keeps, lists and drops what it was told. */
function lifeTests(opened: () => OpenStore, rollsBack: boolean): void {
  const { put, listAll } = scene(opened);
  test("a segment store keeps the same bytes once, also when two processes put them at the same time", async () => {
    const bytes = randomBytes(100_000);
    const id = await put(bytes);
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) => (turn % 2 ? opened().store : opened().other).put(opened().pool, id, bytes)),
    );
    expect((await listAll()).filter((listed) => listed === id)).toEqual([id]);
    expect(Buffer.compare((await opened().store.get(opened().pool, [id])).get(id) as Uint8Array, bytes)).toBe(0);
  });

  test("a segment store lists what was put before an instant, by name, page by page", async () => {
    await Promise.all(Array.from({ length: 20 }, () => put()));
    const all = await listAll();
    expect(all).toEqual([...new Set(all)].sort());
    expect(all.length).toBeGreaterThanOrEqual(20);
    const walked: string[] = [];
    for (;;) {
      const page = await listAll({ after: walked.at(-1) ?? "", limit: 7 });
      walked.push(...page);
      if (page.length < 7) break;
    }
    expect(walked).toEqual(all);
    expect(await listAll({ beforeMs: Date.now() - HOUR_MS })).toEqual([]);
  });

  test("a segment store drops what it is told, unless it was put again since then", async () => {
    const [gone, stays, again] = [await put(), await put(), await put()];
    await opened().store.drop(opened().pool, [again], Date.now() - HOUR_MS);
    await opened().store.drop(opened().pool, [gone, absent], Date.now() + HOUR_MS);
    await opened().store.drop(opened().pool, [gone], Date.now() + HOUR_MS);
    await opened().store.drop(opened().pool, [], Date.now() + HOUR_MS);
    expect((await opened().store.get(opened().pool, [stays, again])).size).toBe(2);
    await expect(opened().store.get(opened().pool, [gone])).rejects.toThrow(SegmentMissing);
  });

  test(`what a rolled back transaction put is ${rollsBack ? "gone" : "kept until a sweep"}`, async () => {
    const segments = createSegments(opened().store, 8);
    const client = await opened().pool.connect();
    await client.query("BEGIN");
    const id = await segments.write(client, klines(Math.random()), { ticker: "EURUSD", timeframe: "M1" }, 5);
    await client.query("ROLLBACK");
    client.release();
    const isThere = async () => (await listAll()).includes(id);
    expect(await isThere()).toBe(!rollsBack);
    await sweepSegments({ pool: opened().pool, segments }, Date.now());
    expect(await isThere()).toBe(!rollsBack);
    await sweepSegments({ pool: opened().pool, segments }, Date.now() + LATER_MS);
    expect(await isThere()).toBe(false);
  });
}

/**
 * What every store of segments guarantees; run it on each adapter.
 * @param rollsBack whether what a transaction put goes with it
 */
export function segmentStoreSuite(name: string, rollsBack: boolean, openStore: () => Promise<OpenStore>): void {
  describe(`segment store: ${name}`, () => {
    let store: OpenStore;
    beforeAll(async () => {
      store = await openStore();
    });
    afterAll(() => store.close());
    contentTests(() => store);
    lifeTests(() => store, rollsBack);
  });
}
