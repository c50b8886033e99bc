import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import type { DataMinutes } from "#lib/contract/portal-corrections";
import {
  DATA_SOURCES_MAX_COUNT,
  type DataComparison,
  type DataComparisonQuery,
  type DataHead,
  type DataImport,
  type DataLongerImport,
  type DataPage,
  type DataSuspects,
  type DataTicker,
  type DataYear,
  FEED_SOURCE,
} from "#lib/contract/portal-data";
import type { Timeframe } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import { storedMonths } from "#lib/history/runs";
import { MINUTE_MS } from "#lib/units";
import { createCatalogue, type ReloadableCatalogue } from "./catalogue";
import { compareYear, type SourceId } from "./data-compare";
import { readMinutesAround } from "./data-minutes";
import { createDataReader, isoOf, withinBudget, yearOf } from "./data-reads";
import { readSuspects } from "./data-suspects";
import { readYear } from "./data-year";

/** A page of years or tickers is sent after this time, so that the reader sees the first ones soon. */
const PAGE_BUDGET_MS = 1_500;
/** Years that are kept in memory, of a few kilobytes each. */
const YEARS_KEPT_COUNT = 400;
/** What changes layers voids a kept year at once; a past year whose last minutes are still in the tail is read again after this. */
const YEAR_KEPT_MS = 5 * MINUTE_MS;

/** Changes with what is stored of the ticker, except in its tail. */
const STAMP = `SELECT md5(string_agg(concat_ws(' ', timeframe, start, content, sources::text), ',' ORDER BY timeframe, start)) AS stamp
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
  /** The minutes around an instant, as an operator corrects them. */
  minutes(ticker: string, query: { readonly at: number }): Promise<DataMinutes>;
  suspects(ticker: string, query: { readonly year: string }): Promise<DataSuspects>;
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

async function importsOf({ prisma }: Pick<Database, "prisma">, ticker: string): Promise<DataImport[]> {
  const rows = await prisma.backfillSeries.findMany({
    where: { ticker },
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
    sealed: row.backfill.sealedAt !== null,
    doubts: row.backfill.doubts,
  }));
}

async function longerImportsOf({ prisma }: Pick<Database, "prisma">, ticker: string): Promise<DataLongerImport[]> {
  const rows = await prisma.importedSeries.findMany({
    where: { ticker },
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

  return {
    async tickers({ before }) {
      const catalogue = await createCatalogue(db, "live");
      const all = catalogue.list().map(({ ticker }) => ticker);
      const rest = all.sort().filter((ticker) => before === undefined || ticker > before);
      return withinBudget(rest, clock.now, PAGE_BUDGET_MS, async (ticker): Promise<DataTicker> => {
        const bounds = await history(ticker);
        if (bounds === null) return { ticker, rows: 0, first_at: null, last_at: null, years: 0 };
        const { first, last, rows, years } = bounds;
        return { ticker, rows, first_at: isoOf(first), last_at: isoOf(last), years };
      });
    },

    listing: async (ticker) => (await find(ticker)).listing,

    async ticker(ticker) {
      const { listing, catalogue } = await find(ticker);
      const bounds = await history(ticker);
      return {
        ...{ ticker, digits: listing.digits, pip_size: listing.pipSize },
        calendar: catalogue.calendar(ticker) === undefined ? null : (listing.calendar ?? null),
        first_at: bounds === null ? null : isoOf(bounds.first),
        last_at: bounds === null ? null : isoOf(bounds.last),
        imports: await importsOf(db, ticker),
        longer: await longerImportsOf(db, ticker),
      };
    },

    async years(ticker, { before }) {
      const { catalogue } = await find(ticker);
      const bounds = await history(ticker);
      if (bounds === null) return { items: [], next_before: null };
      const calendar = catalogue.calendar(ticker);
      const { rows } = await pool.query<{ stamp: string | null }>(STAMP, [ticker]);
      const stamp = `${rows[0]?.stamp} ${bounds.first} ${JSON.stringify(calendar?.rules)}`;
      return withinBudget(yearsOf(bounds, before), clock.now, PAGE_BUDGET_MS, async (number) => {
        const key = `${ticker} ${number} ${stamp}`;
        const known = kept.get(key);
        if (known !== undefined && clock.now() - known.atMs < YEAR_KEPT_MS) return known.year;
        const year = await read(() => readYear(pool, segments, ticker, number, bounds, calendar));
        // The newest year grows with every minute.
        if (number < yearOf(bounds.last)) kept.set(key, { year, atMs: clock.now() });
        return year;
      });
    },

    async minutes(ticker, { at }) {
      await find(ticker);
      return readMinutesAround(pool, segments, ticker, at);
    },

    async suspects(ticker, { year }) {
      const { listing, catalogue } = await find(ticker);
      return read(() => readSuspects(db, listing, Number(year), catalogue.calendar(ticker)));
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
