import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { DiskSpace } from "#lib/contract/portal-health";
import { createMetrics } from "#lib/metrics";
import { collectingLog } from "#lib/testing/collecting-log";
import { watchedClock } from "#lib/testing/watched-clock";
import { MIB_BYTES, SECOND_MS } from "#lib/units";
import { mountTestDisk, type TestDisk } from "#server/testing/disk";
import { startDiskWatch } from "./disk-watch";

const SOON = { interval: 5 };
const RESERVE_MIB = 4;

async function watching(folder: string, reserveMib = RESERVE_MIB) {
  const logged: Record<string, unknown>[] = [];
  const clock = watchedClock(Date.UTC(2026, 0, 7));
  const watch = await startDiskWatch({ folder, reserveMib, clock, log: collectingLog(logged, "info") });
  onTestFinished(watch.stop);
  /** Lets it look once more. */
  async function look(): Promise<void> {
    await vi.waitUntil(() => clock.waits.length > 0, SOON);
    await clock.advance(SECOND_MS);
    await vi.waitUntil(() => clock.waits.length > 0, SOON);
  }
  return { ...watch, look, logged };
}

function folderOfOurOwn(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("pushes are refused while the disk has less than its reserve, and taken again when space is freed", async ({ skip }) => {
  const mounted = mountTestDisk("16m");
  skip(mounted === undefined, "no disk may be mounted here");
  const disk = mounted as TestDisk;
  onTestFinished(disk.unmount);
  const watch = await watching(disk.folder);
  expect(watch.problem()).toBeNull();
  expect(watch.space()?.bytes).toBe(16 * MIB_BYTES);
  watch.requireRoom();

  const free = await disk.fill(2 * MIB_BYTES);
  await watch.look();
  expect(watch.problem()).toBe("2 MiB are free, fewer than the reserve of 4 MiB; pushes are refused");
  const refusal = {
    id: "service_unavailable",
    data: { detail: expect.stringContaining("almost full"), retry_after: 30 },
  };
  expect(watch.requireRoom).toThrow(expect.objectContaining(refusal));

  await free();
  await watch.look();
  expect(watch.problem()).toBeNull();
  watch.requireRoom();
  expect(watch.logged.map(({ msg }) => msg)).toEqual(["the disk is almost full", "the disk has room again"]);
});

test("a disk that cannot be read refuses no pushes, nor does a reserve of 0", async () => {
  const folder = folderOfOurOwn();
  const everything = 1_048_576 * MIB_BYTES;
  const unread = await watching("/nowhere", everything);
  expect(unread.problem()).toBeNull();
  expect(unread.space()).toBeNull();
  unread.requireRoom();
  const none = await watching(folder, 0);
  none.requireRoom();
  const short = await watching(folder, everything);
  expect(short.requireRoom).toThrow();
});

test("the metrics have the free space and the size of the disk while it can be read, and the reserve", async () => {
  const metrics = createMetrics();
  let space: DiskSpace | null = { free_bytes: 5, bytes: 10 };
  metrics.disk(4 * MIB_BYTES, () => space);
  const text = await metrics.registry.metrics();
  expect(text).toContain('spotwire_disk_free_bytes{disk="data"} 5\n');
  expect(text).toContain('spotwire_disk_bytes{disk="data"} 10\n');
  expect(text).toContain(`spotwire_disk_reserve_bytes ${4 * MIB_BYTES}\n`);
  space = null;
  expect(await metrics.registry.metrics()).not.toContain("spotwire_disk_bytes{");
});
