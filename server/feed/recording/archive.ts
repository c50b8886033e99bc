import { readdir, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { HOUR_MS } from "#lib/units";
import { UNFINISHED } from "./hour-file";
import { REWRITTEN } from "./salvage";

const UPSTREAM = /^[a-z0-9][a-z0-9-]*$/;
const TICKER = /^[A-Z0-9]+$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const OURS = /^\d\d\.csv\.gz/;
const FILE = /^(\d\d)\.csv\.gz(\.part)?$/;

/** An hour of a ticker, and its path. */
interface RecordedHour {
  readonly hourMs: number;
  readonly file: string;
}

/** What is recorded: files <upstream>/<ticker>/<day>/<hour>.csv.gz in a folder. Hours are the instants (Unix ms) at which they begin. */
export interface Archive {
  /** The path of an hour of a ticker. */
  pathOf(upstream: string, ticker: string, hourMs: number): string;
  /** Reads what is there. Returns the files of hours before `beforeMs` that are not finished, without .part. */
  scan(beforeMs: number): Promise<RecordedHour[]>;
  /** Notes that the files of an hour grew. */
  grew(hourMs: number, bytes: number): void;
  bytes(): number;
  /** Undefined where nothing is recorded. */
  oldestMs(): number | undefined;
  /** Deletes an hour of all tickers. */
  remove(hourMs: number): Promise<void>;
}

/** The entries of a folder with such names; none if it does not exist. */
async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => pattern.test(name)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** Deletes a folder if it is empty. */
const removeEmpty = (folder: string) => rmdir(folder).catch(() => undefined);

const dayOf = (hourMs: number) => new Date(hourMs).toISOString().slice(0, "2026-01-31".length);
const fileOf = (hourMs: number) => `${new Date(hourMs).toISOString().slice("2026-01-31T".length, "2026-01-31T23".length)}.csv.gz`;

/** The archive in a folder. Other files in it are neither counted nor deleted. */
export function createArchive(folder: string): Archive {
  const hours = new Map<number, number>();
  let total = 0;

  function grew(hourMs: number, bytes: number): void {
    hours.set(hourMs, (hours.get(hourMs) ?? 0) + bytes);
    total += bytes;
  }

  /** Calls `visit` with each folder of a ticker. */
  async function eachTicker(visit: (tickerFolder: string) => Promise<void>): Promise<void> {
    for (const upstream of await namesIn(folder, UPSTREAM)) {
      for (const ticker of await namesIn(path.join(folder, upstream), TICKER)) await visit(path.join(folder, upstream, ticker));
      await removeEmpty(path.join(folder, upstream));
    }
  }

  /** Counts the files of a day; returns those that are not finished. */
  async function scanDay(dayFolder: string, beforeMs: number): Promise<RecordedHour[]> {
    const names = await namesIn(dayFolder, OURS);
    // What a process left that was killed while it rewrote a file.
    for (const name of names) if (name.endsWith(REWRITTEN)) await rm(path.join(dayFolder, name), { force: true });
    const unfinished: RecordedHour[] = [];
    await Promise.all(
      names.map(async (name) => {
        const [, hour, part] = FILE.exec(name) ?? [];
        const hourMs = Date.parse(`${path.basename(dayFolder)}T${hour}:00:00Z`);
        if (hour === undefined || Number.isNaN(hourMs)) return;
        grew(hourMs, (await stat(path.join(dayFolder, name))).size);
        if (part !== undefined && hourMs < beforeMs)
          unfinished.push({ hourMs, file: path.join(dayFolder, name.slice(0, -UNFINISHED.length)) });
      }),
    );
    return unfinished;
  }

  return {
    pathOf: (upstream, ticker, hourMs) => path.join(folder, upstream, ticker, dayOf(hourMs), fileOf(hourMs)),
    async scan(beforeMs) {
      hours.clear();
      total = 0;
      const unfinished: RecordedHour[] = [];
      await eachTicker(async (tickerFolder) => {
        for (const day of await namesIn(tickerFolder, DAY))
          unfinished.push(...(await scanDay(path.join(tickerFolder, day), beforeMs)));
      });
      return unfinished;
    },
    grew,
    bytes: () => total,
    oldestMs: () => (hours.size === 0 ? undefined : Math.min(...hours.keys())),
    async remove(hourMs) {
      await eachTicker(async (tickerFolder) => {
        const dayFolder = path.join(tickerFolder, dayOf(hourMs));
        for (const end of ["", UNFINISHED]) await rm(path.join(dayFolder, `${fileOf(hourMs)}${end}`), { force: true });
        await removeEmpty(dayFolder);
        await removeEmpty(tickerFolder);
      });
      total -= hours.get(hourMs) ?? 0;
      hours.delete(hourMs);
    },
  };
}

/** The hour of an instant. */
export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;
