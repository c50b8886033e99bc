import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMetrics } from "#lib/metrics";
import { collectingLog } from "#lib/testing/collecting-log";
import { watchedClock } from "#lib/testing/watched-clock";
import { MIB_BYTES, SECOND_MS } from "#lib/units";
import { mountTestDisk, type TestDisk } from "#server/testing/disk";
import { startDiskWatch } from "./disk-watch";

const SOON = { timeout: 10_000, interval: 5 };
const RESERVE_MIB = 4;

async function watching(folders: Parameters<typeof startDiskWatch>[0]["folders"], reserveMib = RESERVE_MIB) {
  const logged: Record<string, unknown>[] = [];
  const clock = watchedClock(Date.UTC(2026, 0, 7));
  const watch = await startDiskWatch({ folders, reserveMib, clock, log: collectingLog(logged, "info") });
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
  const watch = await watching({ data: disk.folder, recordings: disk.folder });
  expect(watch.problems()).toEqual({ disk: null, recordings_disk: null });
  expect(watch.spaces().data?.bytes).toBe(16 * MIB_BYTES);
  watch.requireRoom();

  const free = await disk.fill(2 * MIB_BYTES);
  await watch.look();
  expect(watch.problems()).toEqual({
    disk: "2 MiB are free, fewer than the reserve of 4 MiB; pushes are refused",
    recordings_disk: "2 MiB are free, fewer than the reserve of 4 MiB",
  });
  const refusal = {
    id: "service_unavailable",
    data: { detail: expect.stringContaining("almost full"), retry_after: 30 },
  };
  expect(watch.requireRoom).toThrow(expect.objectContaining(refusal));

  await free();
  await watch.look();
  expect(watch.problems()).toEqual({ disk: null, recordings_disk: null });
  watch.requireRoom();
  expect(watch.logged.map(({ msg }) => msg)).toEqual([
    ...Array(2).fill("a disk is almost full"),
    ...Array(2).fill("the disk has room again"),
  ]);
});

test("a full disk of recordings refuses no pushes, nor does a disk that cannot be read or a reserve of 0", async () => {
  const folder = folderOfOurOwn();
  const everything = 1_048_576 * MIB_BYTES;
  const recordings = await watching({ data: "/nowhere", recordings: folder }, everything);
  expect(recordings.problems()).toEqual({ disk: null, recordings_disk: expect.stringContaining("fewer than the reserve") });
  expect(recordings.spaces().data).toBeNull();
  recordings.requireRoom();
  const none = await watching({ data: folder }, 0);
  none.requireRoom();
  const short = await watching({ data: folder }, everything);
  expect(short.requireRoom).toThrow();
});

test("the metrics have the free space and the size of each disk that can be read, and the reserve", async () => {
  const metrics = createMetrics();
  metrics.disks(4 * MIB_BYTES, () => ({ data: { free_bytes: 5, bytes: 10 }, recordings: null }));
  const text = await metrics.registry.metrics();
  expect(text).toContain('spotwire_disk_free_bytes{disk="data"} 5\n');
  expect(text).toContain('spotwire_disk_bytes{disk="data"} 10\n');
  expect(text).toContain(`spotwire_disk_reserve_bytes ${4 * MIB_BYTES}\n`);
  expect(text).not.toContain('disk="recordings"');
});
