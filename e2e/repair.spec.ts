import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "#lib/operations/declarations";
import { DAY_S, MINUTE_S } from "#lib/units";
import { keyHolder, makeLiveKey } from "./commands";
import { readKlines } from "./plain-klines";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const SYMBOLS = { EUR_USD: "EURUSD", XAU_USD: "XAUUSD" } as const;
const TICKERS = Object.values(SYMBOLS);
const DAYS = 7;
const DONE = { timeout: 60_000, interval: 250 };

/** The candle of a minute, different for each. */
function candleOf(time: number) {
  const open = 1_000 + (Math.floor(time / MINUTE_S) % 500);
  return { open, high: open + 3, low: open - 2, close: open + 1, tick_volume: 1 + (open % 40), spread: 0.5 };
}

function candleText(time: number) {
  const { tick_volume: volume, open, high, low, close, spread } = candleOf(time);
  const side = (added: number) => ({ o: `${open + added}`, h: `${high + added}`, l: `${low + added}`, c: `${close + added}` });
  return { time: new Date(time * 1000).toISOString(), complete: true, volume, bid: side(0), ask: side(spread) };
}

/** A provider that speaks as OANDA does. From the second request for candles on, it answers none until it is let go on. */
function startProvider() {
  const held: (() => void)[] = [];
  let asked = 0;
  let holds = true;
  const candles = (query: URLSearchParams) => {
    const from = Date.parse(query.get("from") ?? "") / 1000 + (query.get("includeFirst") === "false" ? MINUTE_S : 0);
    const endS = Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S;
    const count = Math.max(0, Math.min(Number(query.get("count")), (endS - from) / MINUTE_S));
    return { candles: Array.from({ length: count }, (_, index) => candleText(from + index * MINUTE_S)) };
  };
  const stream = (response: ServerResponse) => {
    const beat = () => response.write(`${JSON.stringify({ type: "HEARTBEAT", time: new Date().toISOString() })}\n`);
    beat();
    const timer = setInterval(beat, 1_000);
    response.on("close", () => clearInterval(timer));
  };
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://provider");
    if (pathname.endsWith("/pricing/stream")) return stream(response);
    if (pathname.endsWith("/instruments"))
      return response.end(JSON.stringify({ instruments: Object.keys(SYMBOLS).map((name) => ({ name, displayPrecision: 5 })) }));
    asked += 1;
    const answer = () => response.end(JSON.stringify(candles(searchParams)));
    if (asked > 1 && holds) held.push(answer);
    else answer();
  });
  return {
    server,
    waiting: () => held.length,
    goOn() {
      holds = false;
      for (const answer of held.splice(0)) answer();
    },
  };
}

const provider = startProvider();
let product: Product;
/** The minute in which the service first starts. It has watched those after it, in which there was no price. */
let startS = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.server.listen(0, "127.0.0.1", resolve));
  startS = Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S;
  product = await startProduct({
    ...API_ONLY,
    LIVE_FEED: "oanda",
    OANDA_TOKEN: "token",
    OANDA_ACCOUNT: "101-004-1234567-001",
    FEED_URL: `http://127.0.0.1:${(provider.server.address() as AddressInfo).port}`,
    FEED_REPAIR_DAYS: String(DAYS),
  });
}, SERVER_TIMEOUT_MS);
afterAll(async () => {
  await product?.dispose();
  provider.server.closeAllConnections();
  provider.server.close();
}, SERVER_TIMEOUT_MS);

test(
  "a repair that a kill ends is done by the next start, and every open minute is the provider's",
  async () => {
    await expect.poll(provider.waiting, DONE).toBe(1);
    await product.kill9();
    provider.goOn();
    const fromS = startS - (DAYS - 1) * DAY_S;
    product = await product.restart();
    const feeder = keyHolder(product, await makeLiveKey(product, "market:ingest"));
    const missing = async () => {
      const { data } = await feeder.call(`${operations.ingestState.path}?tickers=${TICKERS}&before=${startS}`);
      return operations.ingestState.data.parse(data).items.map((item) => item.missing?.filter(({ to }) => to > fromS));
    };
    await expect.poll(missing, DONE).toEqual([[], []]);
    const reader = keyHolder(product, await makeLiveKey(product, "market:read"));
    for (const ticker of TICKERS) {
      const rows = await readKlines(reader, ticker, "M1", fromS, startS);
      expect(rows.length).toBeGreaterThan(1_440);
      expect(rows).toEqual(rows.map(({ time }) => ({ time, ...candleOf(time), real_volume: null })));
    }
  },
  3 * SERVER_TIMEOUT_MS,
);
