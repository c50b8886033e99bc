import type { Clock } from "#lib/clock";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { type Archive, hourOf } from "./archive";
import { type Backlog, BORDER_MS, type WaitingRows } from "./backlog";
import { createHourFile, type Disk, type HourFile } from "./hour-file";

/** An hour is over for its files this long after its end: a held tick is recorded a little after it came. */
const OVER_AFTER_MS = BORDER_MS + MINUTE_MS;

interface WriterOptions {
  readonly archive: Archive;
  readonly backlog: Backlog;
  readonly days: number;
  readonly maxBytes: number;
  readonly disk: Disk;
  readonly clock: Clock;
  /** Called with rows for which there is no room, even without the hours before. */
  readonly noRoom: (rows: number) => void;
}

/** Stores what waits. One call at a time; what throws can be called again. */
interface Writer {
  /** Stores all rows that wait, finishes hours that are over and deletes what is not kept. */
  flush(): Promise<void>;
  /** Stores all rows that wait, and leaves files that any program can read. */
  end(): Promise<void>;
}

/** Makes a writer of the rows of a backlog. */
export function createWriter({ archive, backlog, days, maxBytes, disk, clock, noRoom }: WriterOptions): Writer {
  const files = new Map<string, { readonly hourMs: number; readonly file: HourFile }>();
  let begun = false;
  /** The hour in which it was last looked for what is too old. */
  let lookedMs = Number.NEGATIVE_INFINITY;

  const fits = (bytes: number) => archive.bytes() + bytes <= maxBytes;
  const isOpen = (hourMs: number) => [...files.values()].some((open) => open.hourMs === hourMs);

  /** Deletes the oldest hours as long as they are unwanted; never one that is written to. */
  async function removeWhile(unwanted: (hourMs: number) => boolean): Promise<void> {
    for (;;) {
      const oldestMs = archive.oldestMs();
      if (oldestMs === undefined || !unwanted(oldestMs) || oldestMs >= hourOf(clock.now()) || isOpen(oldestMs)) return;
      await archive.remove(oldestMs);
    }
  }

  /** Finishes what an earlier process left. */
  async function begin(): Promise<void> {
    if (begun) return;
    const unfinished = await archive.scan(hourOf(clock.now()));
    for (const { file, hourMs } of unfinished) archive.grew(hourMs, await createHourFile(file, disk).finish());
    begun = true;
  }

  async function store({ upstream, ticker, hourMs, rows, count }: WaitingRows): Promise<void> {
    if (!fits(rows.length)) await removeWhile(() => !fits(rows.length));
    if (!fits(rows.length)) {
      noRoom(count);
      return;
    }
    const path = archive.pathOf(upstream, ticker, hourMs);
    const file = files.get(path)?.file ?? createHourFile(path, disk);
    files.set(path, { hourMs, file });
    archive.grew(hourMs, await file.append(rows));
  }

  async function storeAll(): Promise<void> {
    const taken = backlog.take();
    let next = 0;
    try {
      for (const rows of taken) {
        await store(rows);
        backlog.done(rows);
        next += 1;
      }
    } finally {
      for (const rows of taken.slice(next)) backlog.putBack(rows);
    }
  }

  async function finishHours(): Promise<void> {
    const nowMs = clock.now();
    for (const [path, { hourMs, file }] of files) {
      if (hourMs + HOUR_MS + OVER_AFTER_MS > nowMs) continue;
      archive.grew(hourMs, await file.finish());
      files.delete(path);
    }
    if (hourOf(nowMs) === lookedMs) return;
    await removeWhile((hourMs) => hourMs + HOUR_MS <= nowMs - days * DAY_MS);
    lookedMs = hourOf(nowMs);
  }

  return {
    async flush() {
      await begin();
      await storeAll();
      await finishHours();
    },
    async end() {
      await begin();
      await storeAll();
      for (const { hourMs, file } of files.values()) archive.grew(hourMs, await file.end());
    },
  };
}
