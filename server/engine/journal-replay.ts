import type { Clock } from "#lib/clock";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { RECENT_TICKS_COUNT, type Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import type { Catalogue, KlineStore, MarketView } from "#lib/market/ports";
import { MINUTE_MS } from "#lib/units";
import type { JournalPlace, StoredPlaces, VenueWriter } from "#server/store/klines/kline-writer";
import { createEngine } from "./engine";
import { hydrateAll } from "./hydrate";
import { countBefore, type JournalFolder } from "./journal";
import { createRecorder } from "./recorder";

/** Ticks that are written together: one group of the recorder, which need not wait for the end. */
const WRITE_COUNT = 20_000;

export interface ReplayOptions {
  readonly catalogue: Catalogue;
  readonly store: KlineStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who sends the ticks of a ticker; absent where ticks are not kept. */
  readonly sourceOf?: ((ticker: string) => string) | undefined;
  /** Ticks that are written together; defaults to WRITE_COUNT. */
  readonly writeCount?: number;
}

/** Nothing was seen yet: everything comes from the store. */
const EMPTY_VIEW: MarketView = {
  quote: () => undefined,
  snapshot: () => undefined,
  recentKlines: () => [],
  revision: () => 0,
};

/** What the journals have: when what is not stored was written (Unix ms), whether ticks are not kept, the last ticks of each ticker. */
async function survey(journals: JournalFolder, { stored, kept }: StoredPlaces) {
  let unstored: Unstored | undefined;
  let isKept = true;
  const recent = new Map<string, Tick[]>();
  for await (const entry of journals.entries()) {
    const { atMs, ticks } = entry;
    if (countBefore(entry, stored) < ticks.length) unstored = { firstMs: unstored?.firstMs ?? atMs, lastMs: atMs };
    isKept &&= countBefore(entry, kept) === ticks.length;
    for (const tick of ticks) {
      const known = recent.get(tick.ticker);
      if (known === undefined) recent.set(tick.ticker, [tick]);
      else known.push(tick);
    }
    for (const known of recent.values())
      if (known.length > 2 * RECENT_TICKS_COUNT) known.splice(0, known.length - RECENT_TICKS_COUNT);
  }
  return { unstored, isKept, recent };
}

/** When the ticks were written that are not stored. */
interface Unstored {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** An engine that continues from the stored klines and last quotes, as that of the process that took the ticks. */
async function restoreEngine({ catalogue, store }: ReplayOptions, { firstMs, lastMs }: Unstored) {
  const alignment = createAlignment();
  const engine = createEngine({ listingOf: catalogue.find, calendarOf: catalogue.calendar, alignment, epoch: "journal" });
  // Rows of a later time came from an import, and must not be taken for the klines that were open.
  const nowMs = lastMs + TICK_MAX_AHEAD_MS;
  const lastQuotes = await store.lastQuotes(nowMs);
  const storedMs = Math.max(0, ...[...lastQuotes.values()].map(({ time_msc }) => time_msc));
  // What closed after the last stored tick may not be stored as closed.
  const closedMs = Math.min(firstMs, storedMs) - MINUTE_MS;
  await hydrateAll(catalogue.list(), {
    store,
    view: EMPTY_VIEW,
    calendarOf: catalogue.calendar,
    alignment,
    nowMs,
    closedMs: () => closedMs,
    restore: engine.restore,
  });
  return {
    /** Only where the database was replaced by another one. */
    isOlder: ({ ticker, time_msc }: Tick) => time_msc < (lastQuotes.get(ticker)?.time_msc ?? 0),
    ingest: engine.ingest,
    close: () => engine.advance(lastMs),
  };
}

const later = (a: JournalPlace, b: JournalPlace) => ((a.journal - b.journal || a.ticks - b.ticks) < 0 ? b : a);

/** Writes what a replay makes of ticks. Everything before a write is in it, so a kill between two writes loses and repeats nothing. */
function createReplayWriter({ clock, log }: ReplayOptions, writer: VenueWriter) {
  let reached: JournalPlace = { journal: 0, ticks: 0 };
  let leftOut = 0;
  const recorder = createRecorder({
    writer: {
      async writeBatch(minutes, quotes, ticks) {
        const [stored, kept] = [later(writer.places.stored, reached), later(writer.places.kept, reached)];
        if (!(await writer.write(minutes, quotes, ticks, { stored, kept })))
          throw new Error("another process has begun to store the data of this venue; nothing was written");
      },
    },
    clock,
    log,
    leftOut: (ticks) => {
      leftOut += ticks;
    },
  });
  return {
    ...recorder,
    reach(place: JournalPlace): void {
      reached = place;
    },
    async write(): Promise<void> {
      await recorder.run(AbortSignal.abort());
      if (recorder.pending() + leftOut > 0) throw new Error("the ticks of the journal cannot be stored");
    },
  };
}

/**
 * Adds the ticks that are not stored to the stored klines and last quotes, as the engine of an earlier process did, and keeps those
 * that are not kept.
 */
async function replay(options: ReplayOptions, journals: JournalFolder, writer: VenueWriter, unstored?: Unstored): Promise<void> {
  const { log, sourceOf, writeCount = WRITE_COUNT } = options;
  const engine = unstored && (await restoreEngine(options, unstored));
  const writing = createReplayWriter(options, writer);
  let count = 0;
  for await (const entry of journals.entries()) {
    const { journal, first, atMs, ticks } = entry;
    const [stored, kept] = [countBefore(entry, writer.places.stored), countBefore(entry, writer.places.kept)];
    for (const [index, tick] of ticks.entries()) {
      writing.reach({ journal, ticks: first + index + 1 });
      const isNew = index >= stored;
      if (isNew && engine?.isOlder(tick)) continue;
      if (isNew && engine) writing.record(engine.ingest(tick));
      if (index >= kept && sourceOf) writing.keep(tick, null, atMs, sourceOf(tick.ticker));
      if (!isNew && index < kept) continue;
      count += 1;
      if (count % writeCount === 0) await writing.write();
    }
  }
  if (engine) writing.record(engine.close());
  await writing.write();
  log.info({ ticks: count }, "stored the ticks that an earlier process had taken and not stored");
}

/**
 * Stores what earlier processes left in their journals.
 * @returns the last ticks of each ticker, which may be sent again
 * @throws JournalError when a journal cannot be read
 */
export async function replayJournals(
  options: ReplayOptions,
  journals: JournalFolder,
  writer: VenueWriter,
): Promise<ReadonlyMap<string, readonly Tick[]>> {
  const { unstored, isKept, recent } = await survey(journals, writer.places);
  if (unstored || (options.sourceOf && !isKept)) await replay(options, journals, writer, unstored);
  return recent;
}
