import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { createLog } from "#lib/log";
import { collectingLog } from "#lib/testing/collecting-log";
import type { JournalPlace } from "#server/store/klines/kline-writer";
import { countBefore, type JournalFolder, takeJournals } from "./journal";

const START_MS = Date.UTC(2026, 0, 7, 12);
const NOTHING: JournalPlace = { journal: 0, ticks: 0 };
const tick = (index: number): Tick => ({ ticker: "EURUSD", time_msc: START_MS + index, bid: 1.1, ask: 1.1001 + index / 1e5 });
const ticks = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => tick(from + index));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "spotwire-journal-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function take(log = createLog("silent"), maxBytes?: number): Promise<JournalFolder> {
  return takeJournals({ folder, clock: manualClock(START_MS), log, ...(maxBytes !== undefined && { maxBytes }) });
}

/** A journal of these ticks as a killed process leaves it, a line for each list. */
async function left(number: number, groups: readonly (readonly Tick[])[], maxBytes?: number): Promise<void> {
  const journals = await take(undefined, maxBytes);
  const journal = await journals.begin(number);
  for (const group of groups) {
    for (const one of group) journal.add(one);
    expect(await journal.written(0)).toBe(true);
  }
  await journal.close();
  await journals.release();
}

async function unstoredIn(journals: JournalFolder, stored = NOTHING): Promise<Tick[]> {
  const found: Tick[] = [];
  for await (const entry of journals.entries()) found.push(...entry.ticks.slice(countBefore(entry, stored)));
  return found;
}

async function unstored(stored: JournalPlace, log = createLog("silent")): Promise<Tick[]> {
  const journals = await take(log);
  const found = await unstoredIn(journals, stored);
  await journals.release();
  return found;
}

const fileNames = async () => (await readdir(folder)).filter((name) => name !== "lock").sort();

describe("a journal", () => {
  test("what was written is read back, from the first tick that is not stored", async () => {
    await left(4, [ticks(0, 3), ticks(3, 4), [{ ...tick(4), volume: 2.5 }]]);
    const all = [...ticks(0, 4), { ...tick(4), volume: 2.5 }];
    expect(await unstored(NOTHING)).toEqual(all);
    expect(await unstored({ journal: 4, ticks: 2 })).toEqual(all.slice(2));
    expect(await unstored({ journal: 4, ticks: 5 })).toEqual([]);
    // A later writer has stored it.
    expect(await unstored({ journal: 5, ticks: 0 })).toEqual([]);
  });

  test("files are read in the order of their numbers; what a later writer than the stored one took is not stored", async () => {
    // A file takes a group; by their names, tick 12 would come before tick 3, and writer 10 before writer 9.
    const groups = Array.from({ length: 5 }, (_, index) => ticks(3 * index, 3 * index + 3));
    await left(9, groups, 3_200);
    const names = await fileNames();
    expect(names).toEqual([0, 12, 3, 6, 9].map((first) => `9-${first}.journal`));
    const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
    await left(10, [ticks(15, 18)]);
    for (const [index, name] of names.entries()) await writeFile(path.join(folder, name), texts[index] as Buffer);
    const journals = await take();
    expect(journals.newest).toBe(10);
    await journals.release();
    expect(await unstored(NOTHING)).toEqual(ticks(0, 18));
    expect(await unstored({ journal: 9, ticks: 7 })).toEqual(ticks(7, 18));
    expect(await unstored({ journal: 8, ticks: 2 })).toEqual(ticks(0, 18));
    expect(await unstored({ journal: 10, ticks: 1 })).toEqual(ticks(16, 18));
  });

  test("a folder without journals has none, and one that is a file neither", async () => {
    const empty = await take();
    expect([empty.newest, await unstoredIn(empty)]).toEqual([0, []]);
    await empty.release();
    const file = path.join(folder, "file");
    await writeFile(file, "");
    const none = await takeJournals({ folder: file, clock: manualClock(START_MS), log: createLog("silent") });
    expect([none.newest, await unstoredIn(none)]).toEqual([0, []]);
    await none.release();
  });

  test("a file whose last tick is stored is deleted once another one follows, and its room is free again", async () => {
    const journals = await take(undefined, 320);
    const journal = await journals.begin(1);
    for (let index = 0; !journal.isFull(); index += 1) {
      journal.add(tick(index));
      expect([journal.added(), await journal.written(index)]).toEqual([index + 1, true]);
    }
    const count = journal.added();
    expect(await fileNames()).toHaveLength(count);
    journal.add(tick(count));
    expect(await journal.written(count)).toBe(false);
    await journal.stored(2);
    expect(await fileNames()).toHaveLength(count - 2);
    expect(journal.isFull()).toBe(false);
    journal.add(tick(count + 1));
    expect(await journal.written(count + 1)).toBe(true);
    await journal.stored(2);
    expect(await fileNames()).toHaveLength(count - 1);
    await journal.close();
    await journals.release();
  });

  test("an entry that is torn is not read, and is said", async () => {
    await left(1, [ticks(0, 2), ticks(2, 4)]);
    const [name = ""] = await fileNames();
    const file = path.join(folder, name);
    const bytes = await readFile(file);
    for (const cut of [1, 60, bytes.length / 2 - 3]) {
      await writeFile(file, bytes.subarray(0, bytes.length - cut));
      const said: Record<string, unknown>[] = [];
      expect(await unstored(NOTHING, collectingLog(said, "warn"))).toEqual(ticks(0, 2));
      expect(said).toMatchObject([{ msg: "the journal has entries that are torn or damaged; they were skipped", entries: 1 }]);
    }
  });

  test("a damaged entry is not believed, and those behind it are read", async () => {
    await left(1, [ticks(0, 1), ticks(1, 2)]);
    const [name = ""] = await fileNames();
    const bytes = await readFile(path.join(folder, name));
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    await writeFile(path.join(folder, name), bytes);
    expect(await unstored(NOTHING)).toEqual(ticks(1, 2));
  });

  test("files that are no journals are left alone", async () => {
    await left(1, [ticks(0, 1)]);
    await writeFile(path.join(folder, "notes.txt"), "mine");
    expect(await unstored(NOTHING)).toEqual(ticks(0, 1));
    const journals = await take();
    await journals.begin(2);
    expect(await fileNames()).toEqual(["notes.txt"]);
    await journals.release();
  });

  test("a journal that cannot be read stops the start in words", async () => {
    await symlink(folder, path.join(folder, "3-0.journal"));
    await expect(unstored(NOTHING)).rejects.toThrow(
      /3-0\.journal cannot be read: .*ticks that were acknowledged and are not stored/,
    );
  });

  test("two processes cannot have the same folder", async () => {
    const journals = await take();
    await expect(take()).rejects.toThrow(/in use by process \d+\. Stop that process first/);
    await journals.release();
    await (await take()).release();
  });

  test("files whose ticks are stored are deleted, also at the end, but never others", async () => {
    const journals = await take();
    const journal = await journals.begin(1);
    const many = 120_000;
    for (let from = 0; from < 3 * many; from += many / 2) {
      for (const one of ticks(from, from + many / 2)) journal.add(one);
      expect(await journal.written(0)).toBe(true);
    }
    const all = await fileNames();
    expect(all.length).toBeGreaterThan(1);
    await journal.stored(1);
    expect(await fileNames()).toEqual(all);
    await journal.stored(3 * many - 1);
    expect((await fileNames()).length).toBe(1);
    await journal.close();
    expect((await fileNames()).length).toBe(1);
    await journals.release();
    const again = await take();
    const next = await again.begin(2);
    expect(await fileNames()).toEqual([]);
    next.add(tick(0));
    await next.written(0);
    await next.stored(1);
    await next.close();
    expect(await fileNames()).toEqual([]);
    await again.release();
  });

  test("a write is made at once, unless the disk is slow; whether it still is, is tried again", async () => {
    const clock = manualClock(START_MS);
    let nowMs = 0;
    let writeMs = 0.02;
    const stopwatch = () => {
      nowMs += writeMs;
      return nowMs;
    };
    const said: Record<string, unknown>[] = [];
    const journals = await takeJournals({ folder, clock, log: collectingLog(said, "warn"), stopwatch });
    const journal = await journals.begin(1);
    const write = () => {
      journal.add(tick(journal.added()));
      return journal.written(journal.added() - 1);
    };
    // A file is opened first.
    expect(write()).toBeInstanceOf(Promise);
    expect(await write()).toBe(true);
    for (let index = 0; index < 10; index += 1) expect(write()).toBe(true);
    // A machine that has no time for the process for once.
    writeMs = 25;
    expect(write()).toBe(true);
    writeMs = 0.02;
    for (let index = 0; index < 100; index += 1) expect(write()).toBe(true);
    writeMs = 5;
    const slow = Array.from({ length: 20 }, write);
    expect(slow[0]).toBe(true);
    expect(slow.at(-1)).toBeInstanceOf(Promise);
    expect(await Promise.all(slow)).toEqual(slow.map(() => true));
    expect(said).toMatchObject([{ msg: "the disk of the journal is slow; pushes wait for it" }]);
    await clock.advance(9_999);
    expect(write()).toBeInstanceOf(Promise);
    expect(await write()).toBe(true);
    writeMs = 0.02;
    await clock.advance(1);
    expect(write()).toBe(true);
    const count = journal.added();
    await journal.close();
    await journals.release();
    expect(await unstored(NOTHING)).toEqual(ticks(0, count));
  });

  test("what waits when the file is deleted, because the disk is full, is read from the one that is made again", async () => {
    const journals = await take();
    const journal = await journals.begin(1);
    const write = async () => {
      journal.add(tick(journal.added()));
      return journal.written(journal.added() - 1);
    };
    for (let index = 0; index < 3; index += 1) expect(await write()).toBe(true);
    await journal.close();
    await rm(path.join(folder, "1-0.journal"));
    // Its handle is closed: the write fails, and the next one opens the file.
    expect(await write()).toBe(false);
    expect(await write()).toBe(true);
    await journal.close();
    await journals.release();
    expect(await unstored(NOTHING)).toEqual([tick(4)]);
  });

  test("a full journal says so, and takes no more", async () => {
    const journals = await take(undefined, 100);
    const journal = await journals.begin(1);
    expect(journal.isFull()).toBe(false);
    for (const one of ticks(0, 5)) journal.add(one);
    await journal.written(0);
    expect(journal.isFull()).toBe(true);
    // As those of a provider, which nobody refuses.
    journal.add(tick(5));
    expect(await journal.written(5)).toBe(false);
    await journal.close();
    await journals.release();
    expect(await unstored(NOTHING)).toEqual(ticks(0, 5));
  });

  test("a full disk is said once, and the journal goes on when there is room, without what was lost", async () => {
    const said: Record<string, unknown>[] = [];
    const journals = await take(collectingLog(said, "info"));
    const journal = await journals.begin(1);
    await symlink("/dev/full", path.join(folder, "1-0.journal"));
    journal.add(tick(0));
    expect(await journal.written(0)).toBe(false);
    journal.add(tick(1));
    expect(await journal.written(1)).toBe(false);
    await rm(path.join(folder, "1-0.journal"));
    journal.add(tick(2));
    expect(await journal.written(2)).toBe(true);
    // Of all three, two are lost.
    expect(await journal.written(0)).toBe(false);
    expect(await journal.written(1)).toBe(false);
    expect(said.map(({ msg }) => msg)).toEqual([
      "the journal cannot be written; pushes wait until they are stored",
      "the journal is written again",
    ]);
    await journal.close();
    await journals.release();
    expect(await unstored(NOTHING)).toEqual([tick(2)]);
  });

  test("a folder that cannot be made leaves a journal that cannot be written, not a service that cannot start", async () => {
    await writeFile(path.join(folder, "file"), "");
    folder = path.join(folder, "file");
    const journals = await take();
    const journal = await journals.begin(1);
    journal.add(tick(0));
    expect(await journal.written(0)).toBe(false);
    await journal.close();
    await journals.release();
  });

  test("ticks beyond what may wait for a slow disk are not said to be written", async () => {
    const journals = await take();
    const journal = await journals.begin(1);
    for (const one of ticks(0, 100_001)) journal.add(one);
    expect(await journal.written(0)).toBe(false);
    journal.add(tick(100_001));
    expect(await journal.written(100_001)).toBe(true);
    await journal.close();
    await journals.release();
    expect(await unstored(NOTHING)).toEqual([...ticks(0, 100_000), tick(100_001)]);
  });
});
