import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ERRORS } from "#lib/contract/errors";
import { INGEST_LINE_MAX_BYTES, INGEST_MAX_BYTES, INGEST_MAX_LINES } from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { HOUR_MS } from "#lib/units";
import type { Stranger } from "./client";
import { keyHolder, type MadeKey, makeLiveKey, runCommand } from "./commands";
import { createFeeder, type Feeder, INGEST_PATH, type PushedTick, tickRows } from "./feeder";
import { openTime, type PlainKline, type PlainTimeframe, plainKlines, readKlines } from "./plain-klines";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const MARKET = "/api/v1/market";
/** A revoked key is refused within a second; a longer wait means never. */
const REVOKED_TIMEOUT_MS = 60_000;
/** The recorder writes twice a second; a longer wait means never. */
const WRITTEN_TIMEOUT_MS = 60_000;
const WAIT = { timeout: WRITTEN_TIMEOUT_MS, interval: 50 };
const RESTARTS_TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;
const POINTS = [
  [108_540, 108_548],
  [108_555, 108_562],
  [108_531, 108_541],
  [108_543, 108_551],
] as const;

/** Clients of a product with each of its keys. */
interface Keys {
  readonly ingest: MadeKey;
  readonly read: MadeKey;
}

async function makeKeys(product: Product): Promise<Keys> {
  return { ingest: await makeLiveKey(product, "market:ingest"), read: await makeLiveKey(product, "market:read") };
}

/** The klines of a ticker from the first given tick on. */
async function klinesSince(reader: Stranger, [first]: readonly PushedTick[]): Promise<Record<PlainTimeframe, PlainKline[]>> {
  const { ticker, time_msc } = first as PushedTick;
  const read = (timeframe: PlainTimeframe) =>
    readKlines(reader, ticker, timeframe, openTime(timeframe, Math.floor(time_msc / 1000)));
  return { M1: await read("M1"), M5: await read("M5"), H1: await read("H1"), D1: await read("D1") };
}

function expectedKlines(ticks: readonly PushedTick[]): Record<PlainTimeframe, PlainKline[]> {
  const of = (timeframe: PlainTimeframe) => plainKlines(tickRows(ticks), timeframe);
  return { M1: of("M1"), M5: of("M5"), H1: of("H1"), D1: of("D1") };
}

async function quoteOf(reader: Stranger, ticker: string) {
  const { data } = await reader.call(`${MARKET}/quotes/latest?tickers=${ticker}`);
  return operations.latestQuotes.data.parse(data).items[0];
}

async function snapshotOf(reader: Stranger, ticker: string) {
  const { data } = await reader.call(`${MARKET}/snapshots/latest?tickers=${ticker}`);
  return operations.latestSnapshots.data.parse(data).items[0];
}

describe("a product that takes pushed ticks", () => {
  let product: Product;
  let keys: Keys;
  let reader: Stranger;
  let feeder: Feeder;
  beforeAll(async () => {
    product = await startProduct({ ...API_ONLY, LIVE_FEED: "push" });
    keys = await makeKeys(product);
    reader = keyHolder(product, keys.read);
    feeder = createFeeder(keyHolder(product, keys.ingest));
  }, SERVER_TIMEOUT_MS);
  afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

  test("pushed ticks appear as quote, snapshot and klines, with their source", async () => {
    const ticks = feeder.ticks("EURUSD", POINTS);
    expect(await feeder.push(ticks)).toEqual({ received: 4, accepted: 4, rejected: 0, reasons: {}, rejections: [] });
    const newest = { ticker: "EURUSD", time_msc: ticks[3]?.time_msc, bid: 1.08543, ask: 1.08551, mid: 1.08547, spread: 0.00008 };
    expect(await quoteOf(reader, "EURUSD")).toEqual({ type: "quote", ...newest });
    const range = { bid_high: 1.08555, bid_low: 1.08531, ask_high: 1.08562, ask_low: 1.08541, open: 1.0854 };
    const unknown = { last: null, last_high: null, last_low: null, close: null, change: null, change_pct: null };
    expect(await snapshotOf(reader, "EURUSD")).toEqual({ type: "snapshot", ...newest, ...range, ...unknown });
    await expect.poll(() => klinesSince(reader, ticks), WAIT).toEqual(expectedKlines(ticks));
    const { data } = await reader.call(`${MARKET}/status?tickers=EURUSD`);
    expect(operations.marketStatus.data.parse(data).items[0]?.provider_source).toBe("push");
  });

  test("each rejected line has its reason, and the other lines are accepted", async () => {
    const [good, older, later, last] = feeder.ticks("GBPUSD", POINTS) as [PushedTick, PushedTick, PushedTick, PushedTick];
    const receipt = await feeder.push([
      later,
      "{",
      { ticker: "GBPUSD", bid: 1.1, ask: 1.2 },
      { ...last, ticker: "GBP/USD" },
      { ...last, ticker: "ZZZZZZ" },
      { ...last, bid: 1.09, ask: 1.08 },
      { ...last, bid: 0 },
      { ...last, bid: -1.08, ask: -1.07 },
      { ...last, bid: 1e12, ask: 1e12 },
      { ...last, time_msc: last.time_msc + HOUR_MS },
      { ...last, time_msc: last.time_msc - HOUR_MS },
      { ...last, note: "x".repeat(INGEST_LINE_MAX_BYTES) },
      older,
      later,
      last,
      good,
    ]);
    const rejections = [
      { line: 2, reason: "malformed_line", detail: "The line is not JSON." },
      { line: 3, reason: "malformed_line", detail: "`time_msc` is required." },
      { line: 4, reason: "malformed_line", detail: expect.stringContaining("`ticker` must ") },
      { line: 5, reason: "unknown_ticker" },
      { line: 6, reason: "crossed_quote" },
      ...[7, 8].map((line) => ({ line, reason: "bad_price", detail: "`bid` must be greater than 0." })),
      { line: 9, reason: "bad_price" },
      { line: 10, reason: "in_future" },
      { line: 11, reason: "too_late" },
      { line: 12, reason: "line_too_long" },
      { line: 13, reason: "out_of_order" },
      { line: 14, reason: "duplicate" },
      { line: 16, reason: "out_of_order" },
    ];
    expect(receipt).toEqual({
      received: 16,
      accepted: 2,
      rejected: 14,
      reasons: {
        malformed_line: 3,
        unknown_ticker: 1,
        crossed_quote: 1,
        bad_price: 3,
        in_future: 1,
        too_late: 1,
        line_too_long: 1,
        out_of_order: 2,
        duplicate: 1,
      },
      rejections,
    });
    await expect.poll(() => klinesSince(reader, [later]), WAIT).toEqual(expectedKlines([later, last]));
  });

  test("a batch that is sent again counts once", async () => {
    const ticks = feeder.ticks("AUDUSD", POINTS);
    expect(await feeder.push(ticks)).toMatchObject({ accepted: 4 });
    await expect.poll(() => klinesSince(reader, ticks), WAIT).toEqual(expectedKlines(ticks));
    const again = await feeder.push(ticks);
    expect(again).toMatchObject({ received: 4, accepted: 0, rejected: 4, reasons: { duplicate: 4 } });
    expect(await klinesSince(reader, ticks)).toEqual(expectedKlines(ticks));
  });

  test("pushing with a key without the scope is refused, and the answer names the scope", async () => {
    const { status, code, data } = await createFeeder(reader).post(feeder.ticks("EURUSD", POINTS));
    expect({ status, code }).toEqual({ status: 403, code: 40301 });
    expect(data.required).toBe("market:ingest");
  });

  test("reading the path for pushed ticks is refused", async () => {
    const answer = await reader.call(INGEST_PATH);
    expect({ status: answer.status, code: answer.code }).toEqual({ status: 405, code: 40501 });
    expect(answer.headers.get("allow")).toMatch(/\bPOST\b/);
  });

  test.each([
    ["lines", () => Array.from({ length: INGEST_MAX_LINES + 1 }, () => "{}")],
    ["bytes", () => ["x".repeat(INGEST_MAX_BYTES + 1)]],
  ])("a batch with too many %s is refused with the limit, and the next batch is accepted", async (_, lines) => {
    const { status, code, data } = await feeder.post(lines());
    expect({ status, code, max: data.max }).toEqual({ status: 413, code: 41301, max: INGEST_MAX_LINES });
    expect(data.detail).toContain(String(INGEST_MAX_BYTES));
    expect(await feeder.push(feeder.ticks("NZDUSD", POINTS))).toMatchObject({ accepted: 4 });
  });

  test("a key is refused within a second of its revocation", async () => {
    const key = await makeLiveKey(product, "market:read");
    const holder = keyHolder(product, key);
    const call = async () => (await holder.call(`${MARKET}/instruments`)).code;
    expect(await call()).toBe(0);
    expect(await runCommand(product, "keys", ["revoke", key.id])).toMatchObject({ exitCode: 0 });
    await expect.poll(call, { timeout: REVOKED_TIMEOUT_MS, interval: 20 }).toBe(ERRORS.unauthorized.code);
    expect((await reader.call(`${MARKET}/instruments`)).code).toBe(0);
  });
});

describe("accepted ticks", () => {
  let running: Product | undefined;
  afterEach(async () => {
    await running?.dispose();
    running = undefined;
  }, SERVER_TIMEOUT_MS);

  /** All answers about the tickers of these ticks. */
  async function answers(reader: Stranger, ticks: readonly PushedTick[]) {
    const ticker = ticks[0]?.ticker ?? "";
    return {
      klines: await klinesSince(reader, ticks),
      quote: await quoteOf(reader, ticker),
      snapshot: await snapshotOf(reader, ticker),
    };
  }

  /** Resolves when everything pushed before the call is written: pushes until two more batches are written. */
  async function untilWritten({ baseUrl }: Product, feeder: Feeder): Promise<void> {
    const seen = new Set<string>();
    const feedAndLook = async () => {
      await feeder.push(feeder.ticks("USDCHF", POINTS));
      const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
      const lines = metrics.split("\n").filter((line) => /^spotwire_recorder_rows_total\{.*venue="live"/.test(line));
      seen.add(lines.join("\n"));
      return seen.size;
    };
    // The first batch seen, then the end of a batch that may have begun earlier, then the end of one that began after it.
    await expect.poll(feedAndLook, WAIT).toBeGreaterThanOrEqual(3);
  }

  test("accepted ticks survive a clean stop: every answer is the same, and the product continues from there", {
    tags: ["slow"],
    timeout: RESTARTS_TIMEOUT_MS,
  }, async () => {
    running = await startProduct({ ...API_ONLY, LIVE_FEED: "push" });
    const keys = await makeKeys(running);
    const feeder = createFeeder(keyHolder(running, keys.ingest));
    const reader = keyHolder(running, keys.read);
    const ticks = feeder.ticks("EURUSD", POINTS);
    expect(await feeder.push(ticks)).toMatchObject({ accepted: 4 });
    await expect.poll(() => klinesSince(reader, ticks), WAIT).toEqual(expectedKlines(ticks));
    const before = await answers(reader, ticks);
    expect(before.snapshot).toMatchObject({ ask_high: 1.08562, ask_low: 1.08541 });

    expect(await running.stop()).toBe(0);
    running = await running.restart();
    const readerAfter = keyHolder(running, keys.read);
    expect(await answers(readerAfter, ticks)).toEqual(before);

    const feederAfter = createFeeder(keyHolder(running, keys.ingest));
    expect(await feederAfter.push(ticks)).toMatchObject({ accepted: 0, rejected: 4 });
    const more = feederAfter.ticks("EURUSD", [[108_570, 108_579]]);
    expect(await feederAfter.push(more)).toMatchObject({ accepted: 1 });
    await expect.poll(() => klinesSince(readerAfter, ticks), WAIT).toEqual(expectedKlines([...ticks, ...more]));
    expect(await snapshotOf(readerAfter, "EURUSD")).toMatchObject({ ask_high: 1.08579, ask_low: 1.08541, open: 1.0854 });
  });

  test(
    "accepted ticks survive a kill once they are written, and open klines continue from the stored state",
    async () => {
      running = await startProduct({ ...API_ONLY, LIVE_FEED: "push" });
      const keys = await makeKeys(running);
      const feeder = createFeeder(keyHolder(running, keys.ingest));
      const ticks = feeder.ticks("EURUSD", POINTS);
      expect(await feeder.push(ticks)).toMatchObject({ accepted: 4 });
      await untilWritten(running, feeder);
      const before = await answers(keyHolder(running, keys.read), ticks);
      expect(before.klines).toEqual(expectedKlines(ticks));

      await running.kill9();
      running = await running.restart();
      const reader = keyHolder(running, keys.read);
      expect(await answers(reader, ticks)).toEqual(before);

      const more = feeder.ticks("EURUSD", [
        [108_590, 108_599],
        [108_520, 108_526],
      ]);
      const feederAfter = createFeeder(keyHolder(running, keys.ingest));
      expect(await feederAfter.push(more)).toMatchObject({ accepted: 2 });
      await expect.poll(() => klinesSince(reader, ticks), WAIT).toEqual(expectedKlines([...ticks, ...more]));
    },
    RESTARTS_TIMEOUT_MS,
  );
});

test("a product without LIVE_FEED=push refuses ticks, and says what to do", {
  tags: ["slow"],
  timeout: 2 * SERVER_TIMEOUT_MS,
}, async () => {
  const product = await startProduct(API_ONLY);
  try {
    const feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
    const { status, code, data, headers } = await feeder.post(feeder.ticks("EURUSD", POINTS));
    expect({ status, code }).toEqual({ status: 503, code: 50302 });
    expect(data.detail).toContain("LIVE_FEED=push");
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  } finally {
    await product.dispose();
  }
});
