import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createClient } from "#lib/client/index";
import { makeProxy } from "#lib/testing/breakable-proxy";
import { reservePort } from "#lib/testing/ports";
import { MINUTE_MS, MINUTE_S } from "#lib/units";
import { keyHolder, makeLiveKey } from "../commands";
import { createFeeder } from "../feeder";
import { type PlainKline, readKlines } from "../plain-klines";
import { builtSources, type Python, withPackages } from "../python/pythons";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";

const TICKER = "EURUSD";
const POINTS = [
  [108_540, 108_548],
  [108_555, 108_562],
] as const;
/** So much of the minute is left when the service is asked to stop, or the next one is waited for: it has to end while it is away. */
const LEFT_MIN_S = 40;
const MINUTE_TIMEOUT_MS = 90_000;
/** Shortens the waits between connections; the client draws from 0 to 1. */
const DRAWN = 0.05;

/** A record of a client's subscription, or a gap that it reported. */
interface Told {
  readonly gap?: unknown;
  readonly closed?: boolean;
  readonly recovered?: boolean;
  readonly data?: PlainKline;
}

/** A client that follows klines, and what it told so far. */
interface Follower {
  readonly told: readonly Told[];
  stop(): void;
}

/** Of a client, its address and key. */
type Access = readonly [baseUrl: string, key: string];

function followInTypeScript([baseUrl, key]: Access): Follower {
  const told: Told[] = [];
  const stream = createClient({ baseUrl, key, random: () => DRAWN }).stream({
    onGap: (gap) => told.push({ gap }),
    onError: () => {},
  });
  stream.subscribe({ stream: "kline", tickers: [TICKER], timeframe: "M1" }, (message) => told.push(message));
  return { told, stop: () => stream.close() };
}

const PYTHON = `
import asyncio, json, sys
from spotwire_client import AsyncSpotwire, Spotwire
flavor, address, key = sys.argv[1:]
options = {"random": lambda: ${DRAWN}}
callbacks = {"on_gap": lambda gap: say({"gap": repr(gap)}), "on_error": lambda error: None}
def say(told):
    print(json.dumps(told), flush=True)
def blocking():
    with Spotwire(address, key, **options) as client, client.stream(**callbacks) as stream:
        for message in stream.subscribe("kline", ["${TICKER}"], timeframe="M1"):
            say(message)
async def awaited():
    async with AsyncSpotwire(address, key, **options) as client, client.stream(**callbacks) as stream:
        async for message in stream.subscribe("kline", ["${TICKER}"], timeframe="M1"):
            say(message)
blocking() if flavor == "blocking" else asyncio.run(awaited())
`;

function followInPython({ command, env }: Python, flavor: string, access: Access): Follower {
  const told: Told[] = [];
  const child: ChildProcess = spawn(command, ["-c", PYTHON, flavor, ...access], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", (line) => told.push(JSON.parse(line)));
  return { told, stop: () => void child.kill() };
}

const closedOf = ({ told }: Follower) => told.filter(({ closed }) => closed === true).map(({ data }) => data as PlainKline);
const openTimeNow = () => Math.floor(Date.now() / MINUTE_MS) * MINUTE_S;
const nextMinute = (after: number) =>
  vi.waitFor(() => expect(openTimeNow()).toBeGreaterThan(after), { timeout: MINUTE_TIMEOUT_MS, interval: 50 });

/** Waits until this holds for each of them. */
const allOf = (followers: ReadonlyMap<string, Follower>, assert: (follower: Follower) => void) =>
  vi.waitFor(() => followers.forEach(assert), { timeout: 2 * MINUTE_TIMEOUT_MS, interval: 50 });

/** A kline without the names that every kline of its subscription has. */
const numbersOf = ({ time, open, high, low, close, tick_volume }: PlainKline) => ({ time, open, high, low, close, tick_volume });

/** Clients that follow klines while the service restarts on the same port, over the end of a minute. */
describe("over a restart of the service and the end of a minute", () => {
  const followers = new Map<string, Follower>();
  let product: Product;
  let built: Awaited<ReturnType<typeof builtSources>>;
  let missing = "";
  /** The minute in which the service stopped. */
  let stoppedAt: number;
  let rows: readonly PlainKline[];

  beforeAll(
    async () => {
      const port = String(await reservePort());
      [product, built] = await Promise.all([startProduct({ ...API_ONLY, LIVE_FEED: "push", PORT: port }), builtSources()]);
      const reader = await makeLiveKey(product, "market:read,market:stream");
      const feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
      const python = withPackages(built.sources);
      // Shut until the first tick after the restart is taken, so that all clients find its kline, and none the one before.
      const door = await makeProxy(product.baseUrl);
      await door.open();
      const openedAt = openTimeNow();
      await feeder.push(feeder.ticks(TICKER, POINTS));
      const access = [door.url, reader.text] as const;
      followers.set("TypeScript", followInTypeScript(access));
      if ("missing" in python) missing = python.missing;
      else for (const flavor of ["asyncio", "blocking"]) followers.set(flavor, followInPython(python, flavor, access));
      await allOf(followers, ({ told }) => expect(told.length).toBeGreaterThan(0));
      if (Date.now() % MINUTE_MS > MINUTE_MS - LEFT_MIN_S * 1000) await nextMinute(openTimeNow());
      stoppedAt = openTimeNow();
      await feeder.push(feeder.ticks(TICKER, POINTS));
      await allOf(followers, ({ told }) => expect(told.at(-1)?.data?.time).toBe(stoppedAt));
      await product.stop();
      door.shut();
      await nextMinute(stoppedAt);
      product = await product.restart();
      const [first] = feeder.ticks(TICKER, POINTS);
      const back = Math.floor((first?.time_msc ?? 0) / MINUTE_MS) * MINUTE_S;
      await feeder.push(first === undefined ? [] : [first]);
      await door.open();
      await allOf(followers, (follower) => expect(closedOf(follower).at(-1)?.time).toBeGreaterThanOrEqual(back));
      rows = await readKlines(keyHolder(product, reader), TICKER, "M1", openedAt, back + MINUTE_S);
      door.shut();
    },
    2 * SERVER_TIMEOUT_MS + 4 * MINUTE_TIMEOUT_MS,
  );
  afterAll(async () => {
    for (const follower of followers.values()) follower.stop();
    built?.remove();
    await product?.dispose();
  }, SERVER_TIMEOUT_MS);

  test.for(["TypeScript", "asyncio", "blocking"])(
    "%s delivers every closed kline once, in order, without a gap",
    (name, { skip }) => {
      const follower = followers.get(name);
      if (follower === undefined) return skip(missing);
      expect(rows.length).toBeGreaterThanOrEqual(2);
      expect(closedOf(follower).map(numbersOf)).toEqual(rows.map(numbersOf));
      expect(follower.told.filter(({ recovered }) => recovered).map(({ data }) => data?.time)).toContain(stoppedAt);
      expect(follower.told.filter(({ gap }) => gap !== undefined)).toEqual([]);
    },
  );
});
