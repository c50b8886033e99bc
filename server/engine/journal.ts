import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { MIB_BYTES } from "#lib/units";
import { takeLock } from "#server/database/embedded/lock";
import type { JournalPlace } from "#server/store/klines/kline-writer";

/**
 * Size of all files together, while the database takes nothing: about four million ticks. Past this, pushes are refused, and ticks
 * of a provider are not journaled.
 */
const JOURNAL_MAX_BYTES = 256 * MIB_BYTES;
/** So many files have this size, so that what is stored can be deleted. */
const FILES_COUNT = 32;
/** Ticks that wait for a slow disk; further ones are not journaled. */
const WAITING_MAX_TICKS = 100_000;
/** The number of the writer, and the number of the first tick. */
const FILE_NAME = /^(\d+)-(\d+)\.journal$/;
const LOCK_FILE = "lock";
/** Error codes of a folder in which nothing can be written: then a push waits until its ticks are stored. */
const UNWRITABLE_CODES = ["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "ENOTDIR", "EEXIST"];

/** A journal that cannot be read back, so that acknowledged ticks would be lost if the service started. */
class JournalError extends Error {
  override readonly name = "JournalError";
}

/** Ticks that were taken one after the other. */
interface JournalLine {
  /** The number of its journal, and that of the first tick in it. */
  readonly journal: number;
  readonly first: number;
  /** Unix milliseconds at which they were written. */
  readonly atMs: number;
  readonly ticks: readonly Tick[];
}

/** The journal of a running venue: the ticks that it took and has not stored, or not kept. */
export interface Journal {
  /** Adds a tick that was taken. */
  add(tick: Tick): void;
  /** Number of the ticks that were added. */
  added(): number;
  /**
   * True once all ticks that were added, from number `from` on, are in the files, where a kill of the process leaves them; false
   * when one of them is not.
   */
  written(from: number): Promise<boolean>;
  /** True while the files have no room for more ticks. */
  isFull(): boolean;
  /** The first `ticks` ticks are stored and kept: deletes files that hold no others. */
  stored(ticks: number): Promise<void>;
  /** Deletes everything, when all ticks are stored. */
  close(): Promise<void>;
}

interface JournalFile extends JournalPlace {
  readonly name: string;
}

/** The folder of a venue's journals, while this process has it. */
export interface JournalFolder {
  /** Highest number of a journal in it; 0 without any. */
  readonly newest: number;
  /** The ticks that earlier processes took, in their order. @throws JournalError when a file cannot be read */
  lines(): AsyncGenerator<JournalLine>;
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
}

type Packed = [ticker: string, time: number, bid: number, ask: number, volume?: number];

/** As JSON, but faster than JSON.stringify: it is done for every tick. The tickers of a catalogue need no escapes. */
const packed = ({ ticker, time_msc, bid, ask, volume }: Tick) =>
  `["${ticker}",${time_msc},${bid},${ask}${volume === undefined ? "" : `,${volume}`}]`;
const unpack = ([ticker, time_msc, bid, ask, volume]: Packed): Tick => ({ ticker, time_msc, bid, ask, volume });
const checksum = (text: string) => crc32(text).toString(16).padStart(8, "0");

/** A line: checksum, then number of its first tick, time of writing and the ticks as JSON. */
function lineOf(first: number, atMs: number, ticks: readonly Tick[]): string {
  const text = `[${first},${atMs},[${ticks.map(packed).join()}]]`;
  return `${checksum(text)} ${text}\n`;
}

/** The number of the first tick of a line, and its ticks; null for a line that is torn or damaged. */
function readLine(line: string): { readonly first: number; readonly atMs: number; readonly ticks: Tick[] } | null {
  const text = line.slice(9);
  if (line.slice(0, 8) !== checksum(text)) return null;
  const [first, atMs, packed] = JSON.parse(text) as [number, number, Packed[]];
  return { first, atMs, ticks: packed.map(unpack) };
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

/** How many of the ticks of a line, from the first, are before a place. */
export function countBefore({ journal, first, ticks }: JournalLine, place: JournalPlace): number {
  const end = journal < place.journal ? Number.POSITIVE_INFINITY : journal === place.journal ? place.ticks : 0;
  return Math.min(ticks.length, Math.max(0, end - first));
}

async function* linesOf(folder: string, log: Logger): AsyncGenerator<JournalLine> {
  for (const { name, journal } of await filesIn(folder)) {
    const file = path.join(folder, name);
    const text = await readFile(file, "utf8").catch((error: Error) => {
      throw new JournalError(
        `The journal ${file} cannot be read: ${error.message}. It may have ticks that were acknowledged and are not stored. Let this user read it, or move it away to start without them.`,
      );
    });
    let damaged = 0;
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const read = readLine(line);
      if (read === null) {
        damaged += 1;
        continue;
      }
      yield { journal, ...read };
    }
    // The last line of a killed process may be torn: its ticks were not acknowledged.
    if (damaged > 0) log.warn({ file, lines: damaged }, "the journal has lines that are torn or damaged; they were skipped");
  }
}

/** Writes the journal of a writer to files of a folder that begin with its number. */
function createJournal({ folder, clock, log, maxBytes = JOURNAL_MAX_BYTES }: JournalOptions, number: number): Journal {
  let waiting: Tick[] = [];
  let added = 0;
  /** Number of the first tick that waits. */
  let begun = 0;
  let storedTicks = 0;
  /** True while a tick that waits could not be kept. */
  let overrun = false;
  let bytes = 0;
  let files: { readonly file: string; readonly first: number; bytes: number }[] = [];
  let handle: FileHandle | undefined;
  let failing = false;
  /** Behind the last tick that could not be written. */
  let lostEnd = 0;
  let last: Promise<void> = Promise.resolve();
  /** The write that has not begun. */
  let next: Promise<void> | undefined;

  async function store(text: string, first: number): Promise<void> {
    let current = files.at(-1);
    if (current === undefined || current.bytes >= maxBytes / FILES_COUNT) {
      await handle?.close();
      handle = undefined;
      current = { file: path.join(folder, `${number}-${first}.journal`), first, bytes: 0 };
      files.push(current);
    }
    handle ??= await open(current.file, "a", 0o600);
    // After a failure the last line may be torn; what follows begins a line of its own.
    const line = Buffer.from(failing ? `\n${text}` : text);
    const { bytesWritten } = await handle.write(line);
    current.bytes += bytesWritten;
    bytes += bytesWritten;
    if (bytesWritten < line.length) throw new Error("the disk took only a part of a line");
  }

  async function writeWaiting(): Promise<void> {
    const ticks = waiting;
    const first = begun;
    const end = added;
    if (overrun) lostEnd = end;
    begun = end;
    next = undefined;
    waiting = [];
    overrun = false;
    if (ticks.length === 0) return;
    try {
      await store(lineOf(first, clock.now(), ticks), first);
    } catch (error) {
      if (!failing) log.error({ err: error, folder }, "the journal cannot be written; pushes wait until they are stored");
      failing = true;
      lostEnd = end;
      await handle?.close().catch(() => undefined);
      handle = undefined;
      return;
    }
    if (failing) log.info({ folder }, "the journal is written again");
    failing = false;
  }

  return {
    add(tick) {
      added += 1;
      if (waiting.length < WAITING_MAX_TICKS && bytes < maxBytes) waiting.push(tick);
      else overrun = true;
      next ??= last.then(writeWaiting);
      last = next;
    },
    added: () => added,
    written: (from) => last.then(() => lostEnd <= from),
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
      await last;
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
    lines: () => linesOf(folder, log),
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
