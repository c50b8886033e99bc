import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { TICKS_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import { operations } from "#lib/operations/declarations";
import { DAY_MS } from "#lib/units";
import { keyHolder, type MadeKey, makeLiveKey } from "../commands";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "../server";
import { freeze, pushOnAndOn, serverIn, storedTicks, TICKER } from "./embedded";
import { print } from "./verdict";

const SOON = { interval: 20 };
const PACED = { interval: 500 };
/** Pushes are acknowledged one by one: a kill leaves at most one whose answer did not arrive. */
const UNANSWERED_MAX_COUNT = 1;

let product: Product | undefined;
afterEach(async () => {
  await product?.dispose();
  product = undefined;
}, SERVER_TIMEOUT_MS);

async function start() {
  const started = await startProduct({ ...API_ONLY, LIVE_FEED: "push" });
  product = started;
  const [ingest, read] = [await makeLiveKey(started, "market:ingest"), await makeLiveKey(started, "market:read")];
  return { started, ingest, read };
}

async function restarted(killed: Product): Promise<Product> {
  const again = await killed.restart();
  product = again;
  return again;
}

/** What the service answers as the number of ticks of the ticker. */
async function servedTicks(running: Product, key: MadeKey): Promise<number> {
  const { status, data } = await keyHolder(running, key).call(
    `${operations.klines.path}?ticker=${TICKER}&timeframe=M1&limit=1000`,
  );
  expect(status).toBe(200);
  return (data as { items: { tick_volume: number }[] }).items.reduce((sum, { tick_volume }) => sum + tick_volume, 0);
}

/** How many ticks of the ticker the tick history has. */
async function keptTicks(running: Product, key: MadeKey): Promise<number> {
  const { status, data } = await keyHolder(running, key).call(
    `${operations.ticks.path}?ticker=${TICKER}&from=${Date.now() - DAY_MS}&limit=${TICKS_MAX_LIMIT_ROWS}`,
  );
  expect(status).toBe(200);
  return (data as { count: number }).count;
}

test(
  "a node that is killed again and again under pushes, also with its database, loses no acknowledged tick, and counts none twice",
  async () => {
    const { started, ingest, read } = await start();
    let running = started;
    let acknowledged = 0;
    let kills = 0;
    for (; kills < 5; kills += 1) {
      const pushing = pushOnAndOn(keyHolder(running, ingest));
      // Between two writes of the recorder, at another place each time.
      await vi.waitUntil(() => pushing.acknowledged() >= 30 + 17 * kills, SOON);
      if (kills % 2 === 1) process.kill((await serverIn(running.dataDir)).postmaster, "SIGKILL");
      await running.kill9();
      acknowledged += await pushing.stop();
      running = await restarted(running);
      const served = await servedTicks(running, read);
      expect(served - acknowledged).toBeGreaterThanOrEqual(0);
      expect(served - acknowledged).toBeLessThanOrEqual((kills + 1) * UNANSWERED_MAX_COUNT);
      expect(await storedTicks(running.dataDir)).toBe(served);
      expect(await keptTicks(running, read)).toBe(served);
    }
    print(`killed ${kills} times: ${acknowledged} acknowledged ticks, all stored`);
    await running.stop();
    const left = await readdir(join(running.dataDir, "journal"));
    expect(left).toEqual([]);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a node that is killed while its database hangs stores what it acknowledged when both are back",
  async () => {
    const { started, ingest, read } = await start();
    const pushing = pushOnAndOn(keyHolder(started, ingest));
    await vi.waitUntil(() => pushing.acknowledged() > 50, SOON);
    const thaw = await freeze(started.dataDir);
    const before = pushing.acknowledged();
    await vi.waitUntil(() => pushing.acknowledged() > before + 1_000, SOON);
    await started.kill9();
    const acknowledged = await pushing.stop();
    // Its server ends with it: a new one recovers.
    thaw();
    const { postmaster } = await serverIn(started.dataDir).catch(() => ({ postmaster: undefined }));
    if (postmaster !== undefined) await vi.waitFor(() => expect(() => process.kill(postmaster, 0)).toThrow("ESRCH"), SOON);
    const again = await restarted(started);
    const served = await servedTicks(again, read);
    expect(served - acknowledged).toBeGreaterThanOrEqual(0);
    expect(served - acknowledged).toBeLessThanOrEqual(UNANSWERED_MAX_COUNT);
    expect(again.output()).toContain("stored the ticks that an earlier process had taken and not stored");
    print(`killed while the database hung: ${acknowledged} acknowledged ticks, all stored`);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "the kline of the minute in which a node was killed is named as incomplete when feeders may have lost ticks",
  async () => {
    const { started, ingest, read } = await start();
    const pushing = pushOnAndOn(keyHolder(started, ingest));
    await vi.waitUntil(() => pushing.acknowledged() > 20, SOON);
    const minuteNow = () => Math.floor(Date.now() / 60_000) * 60;
    const before = minuteNow();
    await started.kill9();
    const after = minuteNow();
    await pushing.stop();
    const killedMs = Date.now();
    // Feeders send again what was not acknowledged for ten seconds.
    await vi.waitUntil(() => Date.now() - killedMs > 10_000, SOON);
    const again = await restarted(started);
    const path = `${operations.klines.path}?ticker=${TICKER}&timeframe=M1&from=${before}&to=${after + 60}`;
    await vi.waitFor(async () => {
      const { data } = await keyHolder(again, read).call(path);
      const { incomplete } = operations.klines.data.parse(data);
      // It can be killed in either of two minutes.
      expect([[before], [after]]).toContainEqual(incomplete);
    }, PACED);
  },
  2 * SERVER_TIMEOUT_MS,
);
