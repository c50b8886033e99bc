import { writeSync } from "node:fs";
import { constants, type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { MIB_BYTES } from "#lib/units";
import { takeLock } from "#server/database/embedded/lock";
import type { JournalPlace } from "#server/store/klines/kline-writer";
import { type Entry, EntryDraft, entriesIn } from "./journal-entries";

/**
 * Size of all files together, while the database takes nothing: about four million ticks. Past this, pushes are refused, and ticks
 * of a provider are not journaled.
 */
const JOURNAL_MAX_BYTES = 256 * MIB_BYTES;
/** So many files have this size, so that what is stored can be deleted. */
const FILES_COUNT = 32;
/** Ticks that wait for a slow disk; further ones are not journaled. */
const WAITING_MAX_TICKS = 100_000;
/**
 * When writes take longer than SLOW_MS on average, they would block the event loop: further writes are asynchronous for
 * SLOW_FOR_MS.
 */
const SLOW_MS = 1;
const SLOW_FOR_MS = 10_000;
/** The share of the last write in the average: one that a busy machine held up, for some ten milliseconds, is not a slow disk. */
const LAST_SHARE = 1 / 32;
/** The number of the writer, and the number of the first tick. */
const FILE_NAME = /^(\d+)-(\d+)\.journal$/;
const LOCK_FILE = "lock";
/** Not to append: what a failed write left of an entry is written over. */
const OPENED = constants.O_WRONLY | constants.O_CREAT;
/** Error codes of a folder in which nothing can be written: then a push waits until its ticks are stored. */
const UNWRITABLE_CODES = ["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "ENOTDIR", "EEXIST"];

/** A journal that cannot be read back, so that acknowledged ticks would be lost if the service started. */
class JournalError extends Error {
  override readonly name = "JournalError";
}

/** An entry, and the number of its journal. */
interface JournalEntry extends Entry {
  readonly journal: number;
}

/** The journal of a running venue: the ticks that it took and has not stored, or not kept. */
export interface Journal {
  /** Adds a tick that was taken. */
  add(tick: Tick): void;
  /** Number of the ticks that were added. */
  added(): number;
  /**
   * True once all ticks that were added, from number `from` on, are in the files, where a kill of the process leaves them; false
   * when one of them is not. At once, unless the disk is slow.
   */
  written(from: number): boolean | Promise<boolean>;
  /** True while the files have no room for more ticks. */
  isFull(): boolean;
  /** The first `ticks` ticks are stored and kept: deletes files that hold no others. */
  stored(ticks: number): Promise<void>;
  /** Deletes everything, when all ticks are stored. */
  close(): Promise<void>;
}

/** A file that this process writes. */
interface WrittenFile {
  readonly file: string;
  /** The number of its first tick. */
  readonly first: number;
  bytes: number;
}

interface JournalFile extends JournalPlace {
  readonly name: string;
}

/** The folder of a venue's journals, while this process has it. */
export interface JournalFolder {
  /** Highest number of a journal in it; 0 without any. */
  readonly newest: number;
  /** The ticks that earlier processes took, in their order. @throws JournalError when a file cannot be read */
  entries(): AsyncGenerator<JournalEntry>;
  /** Deletes what is in it and begins the journal of a writer. */
  begin(number: number): Promise<Journal>;
  /** Gives it back. */
  release(): Promise<void>;
}

interface JournalOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxBytes?: number;
  /** Milliseconds of a clock that only measures how long a write takes. */
  readonly stopwatch?: () => number;
}

/** The journals of a folder in their order. Files that are none are left alone. */
async function filesIn(folder: string): Promise<JournalFile[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const files = names.flatMap((name) => {
    const [, journal, ticks] = FILE_NAME.exec(name) ?? [];
    return journal === undefined ? [] : [{ name, journal: Number(journal), ticks: Number(ticks) }];
  });
  return files.sort((a, b) => a.journal - b.journal || a.ticks - b.ticks);
}

/** How many of the ticks of an entry, from the first, are before a place. */
export function countBefore({ journal, first, ticks }: JournalEntry, place: JournalPlace): number {
  const end = journal < place.journal ? Number.POSITIVE_INFINITY : journal === place.journal ? place.ticks : 0;
  return Math.min(ticks.length, Math.max(0, end - first));
}

async function* entriesOf(folder: string, log: Logger): AsyncGenerator<JournalEntry> {
  for (const { name, journal } of await filesIn(folder)) {
    const file = path.join(folder, name);
    const bytes = await readFile(file).catch((error: Error) => {
      throw new JournalError(
        `The journal ${file} cannot be read: ${error.message}. It may have ticks that were acknowledged and are not stored. Let this user read it, or move it away to start without them.`,
      );
    });
    let damaged = 0;
    for (const entry of entriesIn(bytes)) {
      if (entry === null) damaged += 1;
      else yield { journal, ...entry };
    }
    // The last entry of a killed process may be torn: its ticks were not acknowledged.
    if (damaged > 0) log.warn({ file, entries: damaged }, "the journal has entries that are torn or damaged; they were skipped");
  }
}

/** Times writes, to find out whether the disk is slow. */
function createDiskWatch({ folder, clock, log, stopwatch = () => performance.now() }: JournalOptions) {
  let averageMs = 0;
  let slowUntilMs = Number.NEGATIVE_INFINITY;
  return {
    isSlow: () => clock.now() < slowUntilMs,
    time(write: () => number): number {
      const startMs = stopwatch();
      try {
        return write();
      } finally {
        averageMs += (stopwatch() - startMs - averageMs) * LAST_SHARE;
        if (averageMs > SLOW_MS) {
          averageMs = 0;
          // Once, while it stays slow.
          if (clock.now() - slowUntilMs > SLOW_FOR_MS)
            log.warn({ folder }, "the disk of the journal is slow; pushes wait for it");
          slowUntilMs = clock.now() + SLOW_FOR_MS;
        }
      }
    },
  };
}

/**
 * Writes the journal of a writer to files of a folder that begin with its number. A write is made at once, in the turn of the event
 * loop that asks for it, unless the disk is slow: a busy event loop would learn of an asynchronous write only after the messages of a
 * whole turn, so that the answer to each push would be as late.
 */
function createJournal(options: JournalOptions, number: number): Journal {
  const { folder, clock, log, maxBytes = JOURNAL_MAX_BYTES } = options;
  const disk = createDiskWatch(options);
  /** The ticks that wait. */
  const draft = new EntryDraft();
  let added = 0;
  /** Number of the first tick that waits. */
  let begun = 0;
  let storedTicks = 0;
  /** True while a tick that waits could not be kept. */
  let overrun = false;
  let bytes = 0;
  let files: WrittenFile[] = [];
  let handle: FileHandle | undefined;
  let failing = false;
  /** Behind the last tick that could not be written. */
  let lostEnd = 0;
  /** The asynchronous write under way. */
  let present: Promise<void> | undefined;
  /** The one behind it, which takes what comes until then. */
  let next: Promise<void> | undefined;

  const isFull = (file: WrittenFile) => file.bytes >= maxBytes / FILES_COUNT;

  function wrote(file: WrittenFile, entry: Buffer, bytesWritten: number): void {
    if (bytesWritten < entry.length) throw new Error("the disk took only a part of an entry");
    file.bytes += bytesWritten;
    bytes += bytesWritten;
    if (failing) log.info({ folder }, "the journal is written again");
    failing = false;
  }

  function failed(error: unknown, end: number): void {
    if (!failing) log.error({ err: error, folder }, "the journal cannot be written; pushes wait until they are stored");
    failing = true;
    lostEnd = end;
    handle?.close().catch(() => undefined);
    handle = undefined;
  }

  /** Writes an entry asynchronously, to the next file when the one before is full. */
  async function writeLater(entry: Buffer, first: number): Promise<void> {
    let file = files.at(-1);
    if (file === undefined || isFull(file)) {
      await handle?.close();
      handle = undefined;
      file = { file: path.join(folder, `${number}-${first}.journal`), first, bytes: 0 };
      files.push(file);
    }
    if (handle === undefined) {
      handle = await open(file.file, OPENED, 0o600);
      // Somebody may have deleted it to make room.
      const missing = Math.max(0, file.bytes - (await handle.stat()).size);
      file.bytes -= missing;
      bytes -= missing;
    }
    wrote(file, entry, (await handle.write(entry, 0, entry.length, file.bytes)).bytesWritten);
  }

  /** Writes what waits; undefined when that is done. */
  function begin(): Promise<void> | undefined {
    const isEmpty = draft.count === 0;
    const first = begun;
    const end = added;
    if (overrun) lostEnd = end;
    begun = end;
    overrun = false;
    if (isEmpty) return undefined;
    const entry = draft.seal(first, clock.now());
    const file = files.at(-1);
    if (handle === undefined || file === undefined || isFull(file) || disk.isSlow()) {
      const done = () => {
        present = undefined;
      };
      present = writeLater(Buffer.from(entry), first)
        .catch((error: unknown) => failed(error, end))
        .then(done);
    } else
      try {
        const { fd } = handle;
        const written = disk.time(() => writeSync(fd, entry, 0, entry.length, file.bytes));
        wrote(file, entry, written);
      } catch (error) {
        failed(error, end);
      }
    draft.clear();
    return present;
  }

  function write(): Promise<void> | undefined {
    if (present === undefined) return begin();
    next ??= present.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  }

  return {
    add(tick) {
      // Those of a turn make one entry.
      if (added === begun) queueMicrotask(write);
      added += 1;
      if (draft.count < WAITING_MAX_TICKS && bytes < maxBytes) draft.add(tick);
      else overrun = true;
    },
    added: () => added,
    written(from) {
      const isWritten = () => lostEnd <= from;
      return write()?.then(isWritten) ?? isWritten();
    },
    isFull: () => bytes >= maxBytes,
    async stored(ticks) {
      storedTicks = ticks;
      const done = files.filter((_, index) => (files[index + 1]?.first ?? Number.POSITIVE_INFINITY) <= ticks);
      files = files.filter((file) => !done.includes(file));
      bytes -= done.reduce((sum, file) => sum + file.bytes, 0);
      await remove(
        done.map(({ file }) => file),
        log,
      );
    },
    async close() {
      await write();
      await handle?.close();
      if (storedTicks === added)
        await remove(
          files.map(({ file }) => file),
          log,
        );
    },
  };
}

/** Deletes files; those that stay are skipped by the next start, because the database knows that they are stored. */
async function remove(files: readonly string[], log: Logger): Promise<void> {
  for (const file of files)
    await rm(file, { force: true }).catch((error: unknown) =>
      log.warn({ err: error, file }, "a stored journal cannot be deleted"),
    );
}

/** Makes the folder and locks it. Where nothing can be written, it is not locked: nobody can begin a journal there. */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const taken = await takeLock(path.join(folder, LOCK_FILE));
    if ("lock" in taken) return taken.lock.release;
    throw new JournalError(
      `The journal in ${folder} is in use by process ${taken.holder.pid}. Stop that process first, or set another DATA_DIR.`,
    );
  } catch (error) {
    if (error instanceof JournalError || !UNWRITABLE_CODES.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return async () => undefined;
  }
}

/**
 * Takes the folder of a venue's journals.
 * @throws JournalError when another process has it
 */
export async function takeJournals(options: JournalOptions): Promise<JournalFolder> {
  const { folder, log } = options;
  const release = await lockFolder(folder);
  const files = await filesIn(folder);
  return {
    newest: files.at(-1)?.journal ?? 0,
    entries: () => entriesOf(folder, log),
    async begin(number) {
      await remove(
        files.map(({ name }) => path.join(folder, name)),
        log,
      );
      return createJournal(options, number);
    },
    release,
  };
}
