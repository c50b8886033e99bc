import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import { holdRequests } from "#lib/testing/held-server";
import { S3_CREDENTIALS, startS3Server } from "#lib/testing/s3-server";
import { createBucketStore } from "#server/store/segments/bucket-store";
import { createDirectoryStore } from "#server/store/segments/directory-store";
import type { SegmentStore } from "#server/store/segments/segment-store";
import { createSegments } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { mountTestDisk } from "#server/testing/disk";
import { IMPORT_NOW_MS, importCommand, storedKlines } from "#server/testing/import-command";
import { openMinutes } from "#server/testing/import-rows";
import { storeTail } from "#server/testing/layered";

const ROWS = 3_000;

let database: TestDatabase;
let root: string;
beforeEach(async () => {
  [database, root] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-history-"))];
});
afterEach(async () => {
  await database.close();
  await rm(root, { recursive: true });
});

const over = (store: SegmentStore): TestDatabase => ({ ...database, segments: createSegments(store, 8) });

/** Imports three months with a store, whose files do not compress well. */
async function importInto(store: SegmentStore): Promise<{ readonly exitCode: number; readonly text: string }> {
  const months = ["2025-01-06T10:00Z", "2025-02-03T10:00Z", "2025-03-03T10:00Z"];
  const rows = months
    .flatMap((from) => openMinutes(from, ROWS))
    .map((time, index) => {
      const price = (1.1 + ((index * 7_919) % 997) / 1e5).toFixed(5);
      return `${new Date(time * 1_000).toISOString()},${price},${price},${price},${price},${(index * 104_729) % 9_973}`;
    });
  const file = path.join(root, "a.csv");
  await writeFile(file, ["time,open,high,low,close,volume", ...rows].join("\n"));
  return importCommand(over(store), ["--ticker", "EURUSD", file]);
}

/** What has to be true of an import that could not store, and of the same command afterwards. */
async function expectContinued(
  failed: Awaited<ReturnType<typeof importInto>>,
  reason: RegExp,
  store: SegmentStore,
): Promise<void> {
  expect(failed.exitCode).toBe(1);
  expect(failed.text).toMatch(reason);
  expect(failed.text).toMatch(/history could not be stored: .*Nothing of the import shows.*run the same command again to resume/);
  expect(await storedKlines(over(store), "EURUSD", "M1")).toEqual([]);
  expect((await importInto(store)).exitCode).toBe(0);
  const continued = await storedKlines(over(store), "EURUSD", "M1");
  // The same file at once, elsewhere.
  await importCommand(database, ["--ticker", "GBPUSD", path.join(root, "a.csv")]);
  const whole = await storedKlines(database, "GBPUSD", "M1");
  expect(continued).toEqual(whole.map((kline) => ({ ...kline, ticker: "EURUSD" })));
  expect(whole.length).toBeGreaterThan(3 * ROWS - 10);
}

const disk = mountTestDisk("4m");
test.skipIf(disk === undefined)(
  "an import that fills the disk of history ends with why, and is continued by the same command",
  async () => {
    if (disk === undefined) return;
    try {
      const store = createDirectoryStore({ folder: disk.folder, clock: systemClock });
      const free = await disk.fill(4_096);
      const failed = await importInto(store);
      await free();
      await expectContinued(failed, /cannot be used: ENOSPC/, store);
    } finally {
      disk.unmount();
    }
  },
);

test("an import into a bucket that stops answering ends with why, and is continued by the same command", async () => {
  const objects = new Map<string, Buffer>();
  let puts = 0;
  let isSilent = true;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const { url = "", method } = request;
      if (method === "PUT") {
        puts += 1;
        if (isSilent && puts > 1) return;
        objects.set(url, Buffer.concat(chunks));
      }
      const bytes = objects.get(url);
      response.writeHead(bytes === undefined ? 404 : 200, { "last-modified": new Date(0).toUTCString() }).end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/klines`;
  const place = { kind: "bucket", address, bucket: "klines", prefix: "", region: "us-east-1" } as const;
  // Waits between two attempts take no time.
  const clock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(signal === undefined ? 0 : ms, signal) };
  const store = createBucketStore({ place, credentials: { accessKeyId: "a", secretAccessKey: "b" }, clock, requestMaxMs: 500 });
  const failed = await importInto(store);
  isSilent = false;
  await expectContinued(failed, /cannot be used: no answer within 500 ms/, store);
  server.closeAllConnections();
  server.close();
});

test("a bucket that answers late delays an import, and neither the feed's minutes nor reads of other tickers", async () => {
  const server = await startS3Server();
  onTestFinished(server.close);
  const slow = await holdRequests(new URL(server.place.address).origin);
  const place = { ...server.place, address: `${slow.address}/${server.place.bucket}` };
  const store = createBucketStore({ place, credentials: S3_CREDENTIALS, clock: systemClock });
  const service = over(store);
  const minute = (ticker: string, time: number): Kline => {
    const prices = { open: 1.2, high: 1.2, low: 1.2, close: 1.2 };
    return { type: "kline", ticker, timeframe: "M1", time, ...prices, tick_volume: 1, real_volume: null, spread: null };
  };
  let ended = false;
  const importing = importInto(store).finally(() => {
    ended = true;
  });
  const others: Kline[] = [];
  for (let at = 1; ; at += 1) {
    const held = await Promise.race([slow.next(), importing]);
    if (!("pass" in held)) break;
    // The import waits for this answer.
    others.push(minute("GBPUSD", 60 * at));
    await storeTail(service, [minute("GBPUSD", 60 * at), minute("EURUSD", IMPORT_NOW_MS / 1_000 - 60 * at)]);
    expect(await storedKlines(service, "GBPUSD", "M1")).toEqual(others);
    expect(ended).toBe(false);
    held.pass();
  }
  expect((await importing).exitCode).toBe(0);
  expect(others.length).toBeGreaterThanOrEqual(3);
  slow.open();
  expect((await storedKlines(service, "EURUSD", "M1")).length).toBeGreaterThan(3 * ROWS - 10);
});
