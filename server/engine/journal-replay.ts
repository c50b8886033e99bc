import type { Clock } from "#lib/clock";
import { TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { RECENT_TICKS_COUNT, type Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import type { Catalogue, KlineStore, MarketView } from "#lib/market/ports";
import { MINUTE_MS } from "#lib/units";
import type { VenueWriter } from "#server/store/klines/kline-writer";
import { createEngine } from "./engine";
import { hydrateAll } from "./hydrate";
import type { JournalFolder } from "./journal";
import { createRecorder } from "./recorder";

export interface ReplayOptions {
  readonly catalogue: Catalogue;
  readonly store: KlineStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who sends the ticks of a ticker; absent where ticks are not kept. */
  readonly sourceOf?: ((ticker: string) => string) | undefined;
}

/** Nothing was seen yet: everything comes from the store. */
const EMPTY_VIEW: MarketView = {
  quote: () => undefined,
  snapshot: () => undefined,
  recentKlines: () => [],
  revision: () => 0,
};

/** What the journals have: what is not stored, by when it was written (Unix ms), and the last ticks of each ticker. */
async function survey(lines: ReturnType<JournalFolder["lines"]>) {
  let unstored: { readonly firstMs: number; readonly lastMs: number } | undefined;
  const recent = new Map<string, Tick[]>();
  for await (const { atMs, ticks, stored } of lines) {
    if (stored < ticks.length) unstored = { firstMs: unstored?.firstMs ?? atMs, lastMs: atMs };
    for (const tick of ticks) {
      const known = recent.get(tick.ticker);
      if (known === undefined) recent.set(tick.ticker, [tick]);
      else known.push(tick);
    }
    for (const known of recent.values())
      if (known.length > 2 * RECENT_TICKS_COUNT) known.splice(0, known.length - RECENT_TICKS_COUNT);
  }
  return { unstored, recent };
}

/** Adds the ticks that are not stored to the stored klines and last quotes, as the engine of an earlier process did. */
async function replay(
  { catalogue, store, clock, log, sourceOf }: ReplayOptions,
  lines: ReturnType<JournalFolder["lines"]>,
  writer: VenueWriter,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Promise<void> {
  const alignment = createAlignment();
  const engine = createEngine({ listingOf: catalogue.find, calendarOf: catalogue.calendar, alignment, epoch: "journal" });
  const place = { journal: writer.number, ticks: 0 };
  const recorder = createRecorder({
    writer: { writeBatch: async (...batch) => void (await writer.write(...batch, place)) },
    clock,
    log,
  });
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
  let ticksCount = 0;
  for await (const { atMs, ticks, stored } of lines)
    for (const tick of ticks.slice(stored)) {
      // Only where the database was replaced by another one.
      if (tick.time_msc < (lastQuotes.get(tick.ticker)?.time_msc ?? 0)) continue;
      recorder.record(engine.ingest(tick));
      if (sourceOf) recorder.keep(tick, null, atMs, sourceOf(tick.ticker));
      ticksCount += 1;
    }
  recorder.record(engine.advance(lastMs));
  await recorder.run(AbortSignal.abort());
  if (recorder.pending() > 0) throw new Error("the ticks of the journal cannot be stored");
  log.info({ ticks: ticksCount }, "stored the ticks that an earlier process had taken and not stored");
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
  const { unstored, recent } = await survey(journals.lines(writer.stored));
  if (unstored) await replay(options, journals.lines(writer.stored), writer, unstored);
  return recent;
}
