import { randomUUID } from "node:crypto";
import type { Clock } from "#lib/clock";
import type { Kline } from "#lib/domain/kline";
import type { Tick } from "#lib/domain/tick";
import { TAKEN } from "#lib/domain/tick-columns";
import type { Logger } from "#lib/log";
import type { LastQuote, Outcome } from "#lib/market/ports";
import { repeat } from "#lib/repeat";
import type { Listener } from "#server/events/event";
import { addTick, type TickChunk } from "#server/store/history/tick-tail";

/** Longest time between a change and its write. */
const FLUSH_INTERVAL_MS = 500;
/** Rows that may wait while the database is unavailable; past this, feeders are slowed down. */
export const PENDING_MAX_ROWS = 50_000;
/** Ticks are written in groups, because a row of the database for each takes five times as much: a kill loses those of this time. */
const TICKS_INTERVAL_MS = 4_000;
/** They are written earlier once so many wait. */
const TICKS_GROUP_COUNT = 20_000;
/** Ticks of one write, or few more. */
const TICKS_WRITE_COUNT = 3 * TICKS_GROUP_COUNT;
/** Ticks that may wait while the database is unavailable, some 60 MB; more are left out. */
const PENDING_MAX_TICKS = 1_000_000;

/** What the recorder needs of the store. Writes are atomic and may be repeated. */
export interface KlineWriter {
  /**
   * M1 klines, last quotes and ticks of one batch, in one transaction; the last write of a key wins. Called in the same turn of the
   * event loop in which the batch was taken: its minutes have every tick that was applied before.
   * @param waiting how many of the ticks that were taken are neither in this batch nor in one before it: they are the last ones
   */
  writeBatch(
    minutes: readonly Kline[],
    lastQuotes: readonly LastQuote[],
    ticks: readonly TickChunk[],
    waiting: number,
  ): Promise<void>;
}

/** Stores a venue's events in batches. */
export interface Recorder {
  readonly record: Listener;
  /** Keeps a tick and what became of it: null where it was taken. @param source the provider, or push */
  keep(tick: Tick, outcome: Outcome, receivedMs: number, source: string): void;
  /** Number of rows that wait to be written. */
  pending(): number;
  /** False while too many rows wait. */
  hasRoom(): boolean;
  /** Resolves when there is room for more rows, or when the signal aborts. */
  room(signal?: AbortSignal): Promise<void>;
  /** Writes now. Resolves when everything recorded before the call is stored, or when the signal aborts. */
  written(signal: AbortSignal): Promise<void>;
  /** Runs until the signal aborts, then writes the remaining rows. */
  run(signal: AbortSignal): Promise<void>;
}

interface RecorderOptions {
  writer: KlineWriter;
  clock: Clock;
  log: Logger;
  onFlush?: (rows: number, failed: boolean) => void;
  /** Called with the number of ticks that are not kept, because too many wait. */
  leftOut?: ((ticks: number) => void) | undefined;
  /** Rows that may wait; defaults to PENDING_MAX_ROWS. */
  pendingMaxRows?: number | undefined;
  /** Ticks that may wait; defaults to PENDING_MAX_TICKS. */
  pendingMaxTicks?: number | undefined;
}

/** Ticks that came one after the other, and are written together: so what is stored of all ticks is always the first of them. */
interface TickGroup {
  readonly chunks: TickChunk[];
  /** Number of the ticks in its chunks. */
  count: number;
  /** Number of those that were taken, also of those that were left out. */
  taken: number;
}

/** Ticks that wait to be written, in groups that stay as they are once a write of them has begun: it may be repeated. */
function createTickQueue(maxCount: number, leftOut: (ticks: number) => void) {
  let closed: TickGroup[] = [];
  let open: TickGroup = { chunks: [], count: 0, taken: 0 };
  /** The chunks of the open group that take more ticks, by ticker: one of each source. */
  const filling = new Map<string, TickChunk[]>();
  let count = 0;
  let waiting = 0;

  function close(): void {
    if (open.count + open.taken > 0) closed.push(open);
    open = { chunks: [], count: 0, taken: 0 };
    filling.clear();
  }

  function chunkOf(ticker: string, source: string): TickChunk {
    const known = filling.get(ticker) ?? [];
    const filled = known.find((chunk) => chunk.source === source && chunk.outcomes.length < TICKS_GROUP_COUNT);
    if (filled !== undefined) return filled;
    const chunk = { id: randomUUID(), ticker, source, numbers: [], outcomes: [] };
    filling.set(ticker, [...known, chunk]);
    open.chunks.push(chunk);
    return chunk;
  }

  return {
    count: () => count,
    /** Number of the ticks that were taken and wait. */
    waiting: () => waiting,
    add(tick: Tick, outcome: Outcome, receivedMs: number, source: string): void {
      if (open.count >= TICKS_WRITE_COUNT) close();
      if (outcome === null) {
        open.taken += 1;
        waiting += 1;
      }
      if (count >= maxCount) {
        leftOut(1);
        return;
      }
      addTick(chunkOf(tick.ticker, source), tick, receivedMs, outcome ?? TAKEN);
      open.count += 1;
      count += 1;
    },
    /** Removes the oldest groups, of TICKS_WRITE_COUNT ticks or little more. */
    take(): readonly TickGroup[] {
      close();
      let ticks = 0;
      const end = closed.findIndex((group) => {
        ticks += group.count;
        return ticks >= TICKS_WRITE_COUNT;
      });
      const groups = closed.splice(0, end < 0 ? closed.length : end + 1);
      for (const group of groups) {
        count -= group.count;
        waiting -= group.taken;
      }
      return groups;
    },
    putBack(groups: readonly TickGroup[]): void {
      closed = [...groups, ...closed];
      for (const group of groups) {
        count += group.count;
        waiting += group.taken;
      }
    },
  };
}

/**
 * Keeps the newest state of each dirty row and writes it at least every 500 ms: M1 klines and last quotes. Longer klines are computed
 * from the minutes.
 * A failed batch is kept and retried together with the next one, so nothing is lost while the process runs. Ticks are written with
 * them, every 4 seconds.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { writer, clock, log, onFlush, leftOut = () => undefined } = options;
  const { pendingMaxRows = PENDING_MAX_ROWS, pendingMaxTicks = PENDING_MAX_TICKS } = options;
  const ticks = createTickQueue(pendingMaxTicks, leftOut);
  /** When ticks were last written, or tried to be. */
  let ticksTriedMs = clock.now();
  let minutes = new Map<string, Kline>();
  let quotes = new Map<string, LastQuote>();
  /** The last key of each ticker. */
  const keys = new Map<string, { readonly time: number; readonly key: string }>();
  let waiters: (() => void)[] = [];
  /** Callers that wait for the next flush to start. */
  let awaited: (() => void)[] = [];
  let running: Promise<boolean> | undefined;
  let failing = false;

  const pending = () => minutes.size + quotes.size;

  /** The key of a minute. That of the one before of its ticker is used again: to make and hash one costs more than to keep the row. */
  function keyOf({ ticker, time }: Kline): string {
    const known = keys.get(ticker);
    if (known?.time === time) return known.key;
    const key = `${ticker}:${time}`;
    keys.set(ticker, { time, key });
    return key;
  }

  function record(events: Parameters<Listener>[0]): void {
    for (const event of events) {
      if (event.type === "snapshot") quotes.set(event.record.ticker, event.record);
      else if (event.type === "kline" && !event.corrected && event.record.timeframe === "M1")
        minutes.set(keyOf(event.record), event.record);
    }
  }

  /** Removes all dirty rows: a part of them would not be the state after any one tick. */
  function take(): { minutes: Map<string, Kline>; quotes: Map<string, LastQuote> } {
    const batch = { minutes, quotes };
    minutes = new Map();
    quotes = new Map();
    return batch;
  }

  /** Puts a failed batch back; states recorded since then win. */
  function putBack(batch: { minutes: Map<string, Kline>; quotes: Map<string, LastQuote> }): void {
    minutes = new Map([...batch.minutes, ...minutes]);
    quotes = new Map([...batch.quotes, ...quotes]);
  }

  /** The ticks to write now. While writes fail, they are tried at the usual times only. */
  function takeTicks(isAsked: boolean): readonly TickGroup[] {
    const isDue = clock.now() - ticksTriedMs >= TICKS_INTERVAL_MS || (!failing && ticks.count() >= TICKS_GROUP_COUNT);
    if (!isDue && !isAsked) return [];
    ticksTriedMs = clock.now();
    return ticks.take();
  }

  /** Writes all dirty rows, then resolves the callers that waited for them. */
  async function flushOnce(): Promise<boolean> {
    const waiting = awaited;
    awaited = [];
    const groups = takeTicks(waiting.length > 0);
    const isAll = ticks.count() === 0;
    const written = await writeAll(groups);
    if (written && isAll) for (const resolve of waiting) resolve();
    else awaited = [...waiting, ...awaited];
    return written;
  }

  /** Flushes, or joins the flush that runs; starts the next one at once for callers that came in between. */
  function flush(): Promise<boolean> {
    running ??= flushOnce().finally(() => {
      running = undefined;
      if (!failing && awaited.length > 0) void flush();
    });
    return running;
  }

  async function writeAll(groups: readonly TickGroup[]): Promise<boolean> {
    const rows = pending();
    const chunks = groups.flatMap((group) => group.chunks);
    if (rows === 0 && chunks.length === 0) return true;
    const batch = take();
    try {
      await writer.writeBatch([...batch.minutes.values()], [...batch.quotes.values()], chunks, ticks.waiting());
    } catch (error) {
      putBack(batch);
      ticks.putBack(groups);
      onFlush?.(rows, true);
      if (!failing) log.error({ err: error, rows: pending() }, "recorder cannot write; retrying");
      failing = true;
      return false;
    }
    onFlush?.(rows, false);
    if (failing) log.info({ rows }, "recorder is writing again");
    failing = false;
    return true;
  }

  function release(): void {
    const released = waiters;
    waiters = [];
    for (const waiter of released) waiter();
  }

  return {
    record,
    keep: ticks.add,
    pending,
    hasRoom: () => pending() < pendingMaxRows,
    room(signal) {
      if (pending() < pendingMaxRows || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        waiters.push(resolve);
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    written(signal) {
      if ((pending() + ticks.count() === 0 && running === undefined) || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          signal.removeEventListener("abort", done);
          resolve();
        };
        awaited.push(done);
        signal.addEventListener("abort", done, { once: true });
        if (!failing) void flush();
      });
    },
    async run(signal) {
      await repeat({ clock, signal, pause: FLUSH_INTERVAL_MS }, async () => {
        await flush();
        if (pending() < pendingMaxRows) release();
      });
      await running;
      let written = true;
      do {
        ticksTriedMs = Number.NEGATIVE_INFINITY;
        written = await flush();
      } while (written && ticks.count() > 0);
      release();
      if (!written) log.error({ rows: pending(), ticks: ticks.count() }, "recorder stopped with unwritten rows");
      if (ticks.count() > 0) leftOut(ticks.count());
    },
  };
}
