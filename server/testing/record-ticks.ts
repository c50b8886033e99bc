import { manualClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { localDisk } from "#server/feed/recording/hour-file";
import { createRecording } from "#server/feed/recording/recording";

/**
 * Runs as a separate process, for tests that kill one: records ticks of EURUSD into a folder from an instant (Unix ms) on, 50 before
 * a flush and 5 after it. Prints "flushed" and "waiting".
 */
const [folder = "", startMs = ""] = process.argv.slice(2);
const clock = manualClock(Number(startMs));
let stored: () => void = () => undefined;
const flushed = new Promise<void>((resolve) => {
  stored = resolve;
});
const recording = createRecording({
  ...{ folder, days: 1, maxBytes: 1_000_000, upstreamOf: () => "push", clock, log: createLog("silent") },
  leftOut: () => undefined,
  disk: {
    async append(...given) {
      await localDisk.append(...given);
      stored();
    },
  },
});
const { record } = recording.start();
const tick = (at: number) => {
  const nowMs = clock.now();
  record({ ticker: "EURUSD", time_msc: nowMs + at, bid: 1 + at / 100, ask: 2 }, null, nowMs);
};
for (let at = 0; at < 50; at += 1) tick(at);
await flushed;
process.stdout.write("flushed\n");
for (let at = 50; at < 55; at += 1) tick(at);
process.stdout.write("waiting\n");
setInterval(() => undefined, 60_000);
