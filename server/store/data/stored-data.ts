import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import type { DataMinutes } from "#lib/contract/portal-corrections";
import {
  DATA_SOURCES_MAX_COUNT,
  type DataComparison,
  type DataComparisonQuery,
  type DataHead,
  type DataImport,
  type DataLayers,
  type DataLongerImport,
  type DataPage,
  type DataPast,
  type DataPastQuery,
  type DataSuspects,
  type DataTicker,
  type DataYear,
  FEED_SOURCE,
} from "#lib/contract/portal-data";
import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import { createDataReader, isoOf, withinBudget, yearOf, yearSpan } from "#lib/market/data-reads";
import { requirePast } from "#lib/market/klines-at";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { createReader } from "#server/store/history/reader";
import { storedMonths } from "#server/store/history/runs";
import { storedTicks } from "#server/store/history/tick-days";
import { createPastRead } from "#server/store/klines/past-klines";
import { createCatalogue, type ReloadableCatalogue } from "#server/store/market/catalogue";
import { compareYear, type SourceId } from "./data-compare";
import { readBytes, readLayers, readSaid, type Said } from "./data-layers";
import { readMinutesAround } from "./data-minutes";
import { readPastYear } from "./data-past";
import { readSuspects } from "./data-suspects";
import { readYear } from "./data-year";

/** A page of years or tickers is sent after this time, so that the reader sees the first ones soon. */
const PAGE_BUDGET_MS = 1_500;
/** Years that are kept in memory, of some 20 kB each: those of 60 instruments. */
const YEARS_KEPT_COUNT = 1_500;
/** What changes layers voids a kept year at once; one that has minutes in the tail is read again after this. */
const OPEN_YEAR_KEPT_MS = MINUTE_MS;

/** Changes with what is stored of the ticker, except in its tail, and with what is known of lacking ticks. `open` is the first time of its tail. */
const STAMP = `SELECT concat_ws(' ', md5(string_agg(concat_ws(' ', timeframe, start, content, sources::text, struck::text), ',' ORDER BY timeframe, start)),
      (SELECT concat_ws(' ', count(*), max(to_s)) FROM lacking_minutes WHERE venue = 'live' AND ticker = $1)) AS stamp,
    (SELECT min(time)::float8 FROM kline_tail WHERE ticker = $1) AS open
  FROM history_visible WHERE ticker = $1`;

/** The stored minutes of a ticker. */
interface History {
  /** Open times of the first and the last, Unix seconds. */
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  /** UTC years with at least one. */
  readonly years: number;
}

/** Stored history of the live venue, as the pages for operators show it. */
export interface StoredData {
  /** Tickers of the venue in alphabetical order, with what is stored of each. */
  tickers(query: { readonly before?: string | undefined }): Promise<DataPage<DataTicker>>;
  /** @throws Fault not_found for an instrument that the venue does not have; so do the next ones */
  listing(ticker: string): Promise<Listing>;
  ticker(ticker: string): Promise<DataHead>;
  /** The years of a ticker, newest first. */
  years(ticker: string, query: { readonly before?: string | undefined }): Promise<DataPage<DataYear>>;
  /** One year, for readers who are no operators; undefined outside of the history. @throws Fault service_unavailable when many read */
  year(ticker: string, year: number): Promise<DataYear | undefined>;
  /** The minutes around an instant, as an operator corrects them. */
  minutes(ticker: string, query: { readonly at: number }): Promise<DataMinutes>;
  suspects(ticker: string, query: { readonly year: string }): Promise<DataSuspects>;
  /** What each layer said of a year. @throws Fault invalid_parameter for a year of which none says anything; so does the next one */
  layers(ticker: string, query: { readonly year: string }): Promise<DataLayers>;
  /**
   * A year as it showed at an instant. @throws Fault invalid_parameter for an instant in the future or before anything of the ticker was
   * known, and where too much has changed since
   */
  past(ticker: string, query: DataPastQuery): Promise<DataPast>;
  /** The years in which two sources have common minutes, newest first. */
  compare(ticker: string, query: DataComparisonQuery): Promise<DataPage<DataComparison>>;
}

/** Years of a history, newest first, those before `before`. */
function yearsOf({ first, last }: History, before: string | undefined): number[] {
  const newest = Math.min(yearOf(last), before === undefined ? Number.POSITIVE_INFINITY : Number(before) - 1);
  return Array.from({ length: Math.max(0, newest - yearOf(first) + 1) }, (_, index) => newest - index);
}

const sourceOf = (text: string): SourceId => (text === FEED_SOURCE ? null : Number(text));

interface ImportedRow {
  readonly batch: number;
  readonly first: bigint;
  readonly last: bigint;
  readonly stored: bigint;
  readonly backfill: { readonly file: string; readonly undoneAt: Date | null };
}

const importOf = ({ batch, first, last, stored, backfill }: ImportedRow) => ({
  number: batch,
  file: backfill.file,
  first_at: isoOf(Number(first)),
  last_at: isoOf(Number(last)),
  stored: Number(stored),
  undone_at: backfill.undoneAt?.toISOString() ?? null,
});

/** Of imports that show, or did until they were undone. */
const COMPLETE = { backfill: { pending: false } };

async function importsOf({ prisma }: Pick<Database, "prisma">, ticker: string): Promise<DataImport[]> {
  const rows = await prisma.backfillSeries.findMany({
    where: { ticker, ...COMPLETE },
    orderBy: { batch: "desc" },
    take: DATA_SOURCES_MAX_COUNT,
    include: { backfill: true },
  });
  return rows.map((row) => ({
    ...importOf(row),
    files: row.backfill.files,
    started_at: row.backfill.startedAt.toISOString(),
    overwritten: Number(row.overwritten),
    already_there: Number(row.alreadyThere),
    doubts: row.backfill.doubts,
  }));
}

async function longerImportsOf({ prisma }: Pick<Database, "prisma">, ticker: string): Promise<DataLongerImport[]> {
  const rows = await prisma.importedSeries.findMany({
    where: { ticker, ...COMPLETE },
    orderBy: [{ batch: "desc" }, { timeframe: "asc" }],
    take: DATA_SOURCES_MAX_COUNT,
    include: { backfill: true },
  });
  return rows.map((row) => ({ ...importOf(row), timeframe: row.timeframe as Timeframe, covered: Number(row.covered) }));
}

/** Reads stored history for operators, in pieces that are answered soon. */
export function createStoredData({ db, clock }: { readonly db: Database; readonly clock: Clock }): StoredData {
  const { pool, segments } = db;
  const read = createDataReader();
  /** Others must not take the turns of operators. */
  const readForAll = createDataReader();
  const readPast = createPastRead(createReader(segments, pool));
  const kept = new LRUCache<string, { readonly year: DataYear; readonly atMs: number }>({ max: YEARS_KEPT_COUNT });

  async function find(ticker: string): Promise<{ listing: Listing; catalogue: ReloadableCatalogue }> {
    const catalogue = await createCatalogue(db, "live");
    const listing = catalogue.find(ticker);
    if (listing === undefined) throw new Fault("not_found", { detail: `${ticker} is not an instrument of the live venue.` });
    return { listing, catalogue };
  }

  async function history(ticker: string): Promise<History | null> {
    const months = await storedMonths(pool, segments, ticker);
    const [first, last] = [months[0]?.first, months.at(-1)?.last];
    if (first === undefined || last === undefined) return null;
    const years = new Set(months.map(({ start }) => yearOf(start))).size;
    return { first, last, rows: months.reduce((sum, { rows }) => sum + rows, 0), years };
  }

  /** What was ever said of a ticker. @throws Fault invalid_parameter for a year of which nothing was */
  async function requireSaid(ticker: string, year: number): Promise<Said> {
    const said = await readSaid(pool, ticker);
    const [first, last] = said === null ? [] : [yearOf(said.first), yearOf(said.last)];
    if (said !== null && first !== undefined && last !== undefined && year >= first && year <= last) return said;
    const detail = said === null ? `Nothing of ${ticker} is stored.` : `The history of ${ticker} is from ${first} to ${last}.`;
    throw new Fault("invalid_parameter", { parameter: "year", detail });
  }

  /** The extent of a ticker's history, and how a year of it is read; null without any. @throws Fault not_found */
  async function yearReader(ticker: string) {
    const { catalogue } = await find(ticker);
    const bounds = await history(ticker);
    if (bounds === null) return null;
    const { first, last } = bounds;
    const calendar = catalogue.calendar(ticker);
    const { rows } = await pool.query<{ stamp: string; open: number | null }>(STAMP, [ticker]);
    const { stamp, open } = rows[0] ?? { stamp: "", open: null };
    const version = createHash("sha256")
      .update(JSON.stringify([ticker, stamp, first, calendar?.rules]))
      .digest("base64");
    async function yearOfTicker(number: number, inTurn: typeof read): Promise<DataYear> {
      const key = `${version} ${number}`;
      const isOpen = open !== null && yearSpan(number).to > open;
      function fresh(): DataYear | undefined {
        const known = kept.get(key);
        return known !== undefined && (!isOpen || clock.now() - known.atMs < OPEN_YEAR_KEPT_MS) ? known.year : undefined;
      }
      async function readNow(): Promise<DataYear> {
        const year = await readYear(db, ticker, number, { first, last }, calendar);
        kept.set(key, { year, atMs: clock.now() });
        return year;
      }
      // Those who waited for their turn meanwhile often find it.
      return fresh() ?? inTurn(async () => fresh() ?? readNow());
    }
    return { bounds, yearOfTicker };
  }

  return {
    async tickers({ before }) {
      const catalogue = await createCatalogue(db, "live");
      const all = catalogue.list().map(({ ticker }) => ticker);
      const rest = all.sort().filter((ticker) => before === undefined || ticker > before);
      return withinBudget(rest, clock.now, PAGE_BUDGET_MS, async (ticker): Promise<DataTicker> => {
        const bounds = await history(ticker);
        const bytes = await readBytes(pool, segments, ticker);
        const ticks = await storedTicks(pool, ticker, clock.now());
        const sizes = { bytes, tick_bytes: ticks.bytes, tick_month_bytes: ticks.month_bytes };
        if (bounds === null) return { ticker, rows: 0, first_at: null, last_at: null, years: 0, ...sizes };
        const { first, last, rows, years } = bounds;
        return { ticker, rows, first_at: isoOf(first), last_at: isoOf(last), years, ...sizes };
      });
    },

    listing: async (ticker) => (await find(ticker)).listing,

    async ticker(ticker) {
      const { listing, catalogue } = await find(ticker);
      const bounds = await history(ticker);
      const said = await readSaid(pool, ticker);
      return {
        ticker,
        digits: listing.digits,
        pip_size: listing.pipSize,
        calendar: catalogue.calendar(ticker) === undefined ? null : (listing.calendar ?? null),
        first_at: bounds === null ? null : isoOf(bounds.first),
        last_at: bounds === null ? null : isoOf(bounds.last),
        said: said === null ? null : { first: yearOf(said.first), last: yearOf(said.last) },
        bytes: await readBytes(pool, segments, ticker),
        tick_bytes: (await storedTicks(pool, ticker, clock.now())).bytes,
        imports: await importsOf(db, ticker),
        longer: await longerImportsOf(db, ticker),
      };
    },

    async years(ticker, { before }) {
      const reader = await yearReader(ticker);
      if (reader === null) return { items: [], next_before: null };
      const { bounds, yearOfTicker } = reader;
      return withinBudget(yearsOf(bounds, before), clock.now, PAGE_BUDGET_MS, (year) => yearOfTicker(year, read));
    },

    async year(ticker, year) {
      const reader = await yearReader(ticker);
      return reader !== null && yearsOf(reader.bounds, undefined).includes(year)
        ? reader.yearOfTicker(year, readForAll)
        : undefined;
    },

    async minutes(ticker, { at }) {
      await find(ticker);
      return readMinutesAround(pool, segments, ticker, at);
    },

    async suspects(ticker, { year }) {
      const { listing, catalogue } = await find(ticker);
      return read(() => readSuspects(db, listing, Number(year), catalogue.calendar(ticker)));
    },

    async layers(ticker, { year }) {
      await find(ticker);
      await requireSaid(ticker, Number(year));
      return readLayers(pool, segments, ticker, Number(year), clock.now());
    },

    async past(ticker, { year, as_of }) {
      const { catalogue } = await find(ticker);
      const atS = Math.floor(Date.parse(as_of) / SECOND_MS);
      requirePast(atS, clock.now());
      const { known } = await requireSaid(ticker, Number(year));
      if (atS < known)
        throw new Fault("invalid_parameter", {
          parameter: "as_of",
          detail: `Nothing of ${ticker} was known before ${isoOf(known)}.`,
        });
      const calendar = catalogue.calendar(ticker);
      return read(() => readPastYear(pool, segments, readPast, ticker, Number(year), atS, calendar));
    },

    async compare(ticker, { a, b, before }) {
      const { listing } = await find(ticker);
      const bounds = await history(ticker);
      if (bounds === null) return { items: [], next_before: null };
      return withinBudget(yearsOf(bounds, before), clock.now, PAGE_BUDGET_MS, (year) =>
        read(() => compareYear(pool, segments, listing, year, [sourceOf(a), sourceOf(b)])),
      );
    },
  };
}
