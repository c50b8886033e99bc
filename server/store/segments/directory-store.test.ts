import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, open, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock as clock, manualClock } from "#lib/clock";
import { isDatabaseAway, SegmentMissing, SegmentStoreAway } from "#lib/storage-errors";
import { mountTestDisk } from "#server/testing/disk";
import { createDirectoryStore } from "./directory-store";
import { objectName } from "./object-name";
import { segmentId } from "./parquet-file";
import type { Queries, SegmentStore } from "./segment-store";

/** A directory has no use for a connection to the database. */
const NO_DATABASE = null as unknown as Queries;

let folder: string;
let store: SegmentStore;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "spotwire-history-"));
  store = createDirectoryStore({ folder, clock });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytes = randomBytes(300);
const id = segmentId(bytes);
const put = (to = store, content: Uint8Array = bytes) => to.put(NO_DATABASE, segmentId(content), content);

test("a segment lies in a file of its name, which any program for Parquet finds, and nothing else is left beside it", async () => {
  await put();
  await put();
  expect(await readdir(folder, { recursive: true })).toEqual(
    expect.arrayContaining([id.slice(0, 2), `${id.slice(0, 2)}/${id}.parquet`, "unfinished"]),
  );
  expect(await readdir(path.join(folder, "unfinished"))).toEqual([]);
  expect((await stat(path.join(folder, objectName(id)))).mode & 0o007).toBe(0);
});

test("a directory that is gone, as with a disk that is not mounted, is away: nothing is missing, and nothing is written elsewhere", async () => {
  await put();
  await rename(folder, `${folder}-away`);
  for (const work of [
    () => store.get(NO_DATABASE, [id]),
    () => store.range(NO_DATABASE, id, 0, 1),
    () => store.list(NO_DATABASE, { beforeMs: Date.now(), after: id, limit: 1 }),
    () => put(),
  ]) {
    const failure = await work().catch((error: unknown) => error);
    expect((failure as Error).message).toContain(`The directory of stored klines ${folder} cannot be used: ENOENT`);
    // So that a request is answered as when the database is away.
    expect(isDatabaseAway(failure)).toBe(true);
  }
  await expect(stat(folder)).rejects.toThrow("ENOENT");
  await rename(`${folder}-away`, folder);
  expect((await store.get(NO_DATABASE, [id])).size).toBe(1);
});

test("a disk that does not answer is away in bounded time", async () => {
  const moved = manualClock(0);
  const slow = createDirectoryStore({ folder, clock: moved });
  await mkdir(path.join(folder, id.slice(0, 2)));
  // Reading it waits for somebody who writes.
  const pipe = path.join(folder, objectName(id));
  execFileSync("mkfifo", [pipe]);
  const reading = expect(slow.get(NO_DATABASE, [id])).rejects.toThrow(SegmentStoreAway);
  await moved.advance(10_000);
  await reading;
  await (await open(pipe, "w")).close();
});

test.skipIf(process.getuid?.() === 0)("a directory that may not be written to is away", async () => {
  await chmod(folder, 0o500);
  await expect(put()).rejects.toThrow(SegmentStoreAway);
});

test("what is not the name of a segment is missing, and no other file can be reached by one", async () => {
  await writeFile(path.join(folder, "secret.parquet"), "secret");
  for (const name of ["../secret", "secret", "", `${id}/..`, id.toUpperCase().replace(/\d/g, "A")])
    await expect(store.get(NO_DATABASE, [name])).rejects.toThrow(SegmentMissing);
});

test("what a killed process left unfinished is no segment, and is removed once it is old", async () => {
  await put();
  const unfinished = path.join(folder, "unfinished");
  for (const [name, ageS] of [
    [`${id}.old`, 7_200],
    [`${id}.new`, 0],
  ] as const) {
    await writeFile(path.join(unfinished, name), "half");
    const at = Date.now() / 1_000 - ageS;
    await utimes(path.join(unfinished, name), at, at);
  }
  await writeFile(path.join(folder, "README"), "a file of the operator");
  expect(await store.list(NO_DATABASE, { beforeMs: Date.now() - 3_600_000, after: "", limit: 10 })).toEqual([]);
  expect(await readdir(unfinished)).toEqual([`${id}.new`]);
  expect(await store.list(NO_DATABASE, { beforeMs: Date.now() + 3_600_000, after: "", limit: 10 })).toEqual([id]);
});

const disk = mountTestDisk("4m");
test.skipIf(disk === undefined)(
  `a full disk is away for what is put, keeps nothing half written, and serves what it has${disk ? "" : " (skipped: may not mount)"}`,
  async () => {
    if (disk === undefined) return;
    try {
      const full = createDirectoryStore({ folder: disk.folder, clock });
      await put(full);
      const free = await disk.fill(8_192);
      await expect(put(full, randomBytes(1_000_000))).rejects.toThrow(/cannot be used: ENOSPC/);
      expect(await readdir(path.join(disk.folder, "unfinished"))).toEqual([]);
      expect((await full.get(NO_DATABASE, [id])).size).toBe(1);
      await free();
      await put(full, randomBytes(1_000_000));
    } finally {
      disk.unmount();
    }
  },
);
