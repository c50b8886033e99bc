import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { createCatalogue } from "#lib/market/catalogue";
import { createKlineStore } from "#lib/market/kline-store";
import { createMetrics } from "#lib/metrics";
import { acquireDatabase } from "#server/database/database";
import type { MarketFeed } from "#server/feed/feed";
import { startMarket } from "#server/market";
import { ticksOf } from "./bench-ticks";
import { answerCalls } from "./stream-calls";

/** The market of the product in a process of its own, fed from within: engine, view, recent events and recorder. */

/** How many ticks the feed delivers at a time. */
const BATCH_COUNT = 60;
const TURN_COUNT = 100 * BATCH_COUNT;

let [count, fed] = [0, false];
let goOn: () => void = () => undefined;

/** Delivers without a pause while `fed`, and counts. */
const feed: MarketFeed = {
  name: "bench",
  keepsTime: false,
  open: () =>
    async function* run(signal) {
      while (!signal.aborted) {
        if (!fed) await new Promise<void>((resolve) => (goOn = resolve));
        const ticks = ticksOf(BATCH_COUNT);
        count += ticks.length;
        yield ticks;
        // Timers and the recorder get their turn, as between the messages of a source.
        if (count % TURN_COUNT === 0) await new Promise(setImmediate);
      }
    },
};

const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
const log = createLog("error");
const { db, release } = await acquireDatabase(readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" }), log, systemClock);
const catalogue = await createCatalogue(db, "live");
const store = createKlineStore(db);
const parts = { catalogue, store, writer: store, clock: systemClock, log, metrics: createMetrics() };
const market = await startMarket({ ...parts, venue: "live", feed, acceptsPush: false, provider: "bench" });

answerCalls({
  /** Processor time of a tick, µs, over some seconds. */
  async measure(seconds: number): Promise<number> {
    const [counted, before] = [count, process.cpuUsage()];
    fed = true;
    goOn();
    await systemClock.wait(seconds * 1000);
    fed = false;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (count - counted);
  },
  async end(): Promise<void> {
    fed = true;
    const stopped = market.stop();
    goOn();
    await stopped;
    await release();
    rmSync(folder, { recursive: true, force: true });
  },
});
process.on("SIGTERM", () => process.exit(0));
