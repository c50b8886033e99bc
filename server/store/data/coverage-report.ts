import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import type { CoverageReport, CoverageRow, CoverageSource, MonthCoverage, TickerCoverage } from "#lib/contract/coverage";
import type { DataYearCoverage } from "#lib/contract/portal-data";
import type { Venue } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import { periodOf } from "#lib/domain/period";
import { countOf, type Minutes, openWithin } from "#lib/market/coverage";
import { createDataReader, isoOf, yearSpan } from "#lib/market/data-reads";
import { MINUTE_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { allMonths, type StoredMonth } from "#server/store/history/runs";
import { createCatalogue } from "#server/store/market/catalogue";
import { readSources } from "./coverage-sources";
import { coverYear } from "./data-year";
import type { StoredData } from "./stored-data";

/** A venue is counted again after this time at the earliest, however many readers ask. */
const COUNTED_KEPT_MS = MINUTE_MS;
/** Months that are kept in memory: what the calendars had open, and what the formula of the sandbox has. */
const MONTHS_KEPT_COUNT = 20_000;
/** Years of the sandbox that are kept in memory. */
const YEARS_KEPT_COUNT = 200;

/** The minutes of a span for which the formula of the sandbox has prices, as ascending runs. */
export type FormulaMinutes = (listing: Listing, calendar: Calendar | undefined, span: Minutes) => Minutes[];

/** How far back klines go, how complete they are, and where they come from. What everybody may ask is counted once for all. */
export interface CoverageReports {
  list(venue: Venue): Promise<CoverageReport>;
  /** Undefined for a ticker that the venue does not list. */
  ticker(venue: Venue, ticker: string): Promise<TickerCoverage | undefined>;
  /**
   * A year to the minute; undefined outside of the history of the ticker.
   * @throws Fault not_found for a ticker that the venue does not list; service_unavailable when many years are being read
   */
  year(venue: Venue, ticker: string, year: number): Promise<DataYearCoverage | undefined>;
}

interface CoverageOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly storedData: Pick<StoredData, "year">;
  readonly sandbox: {
    /** Its first minute, Unix seconds. */
    readonly startS: number;
    readonly minutes: FormulaMinutes;
  };
}

/** A ticker as it was counted. */
interface Counted {
  readonly row: CoverageRow;
  readonly listing: Listing;
  readonly calendar: Calendar | undefined;
  readonly months: readonly MonthCoverage[];
}

/** A venue as it was counted. */
interface CountedVenue {
  readonly atMs: number;
  readonly tickers: ReadonlyMap<string, Counted>;
}

function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const monthText = (start: number) => isoOf(start).slice(0, 7);

/** The sum of what is known of all parts; null where one is not. */
const sumOf = (values: readonly (number | null)[]) =>
  values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);

function totalOf(parts: readonly MonthCoverage[]) {
  return {
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    open_minutes: sumOf(parts.map(({ open_minutes }) => open_minutes)),
    missing_minutes: sumOf(parts.map(({ missing_minutes }) => missing_minutes)),
  };
}

/**
 * The months from the first to the last minute, those without any too.
 * @param openIn how many minutes of a span the market was open, null where that is not known
 */
async function coverMonths(
  stored: readonly StoredMonth[],
  openIn: (span: Minutes) => Promise<number | null>,
): Promise<MonthCoverage[]> {
  const [first, last] = [stored[0]?.first, stored.at(-1)?.last];
  if (first === undefined || last === undefined) return [];
  const known = new Map(stored.map((month) => [month.start, month.rows]));
  const months: MonthCoverage[] = [];
  for (let month = periodOf("M1", first); month.from <= last; month = periodOf("M1", month.to)) {
    const rows = known.get(month.from) ?? 0;
    const open = await openIn({ from: Math.max(month.from, first), to: Math.min(month.to, last + MINUTE_S) });
    const missing = open === null ? null : Math.max(0, open - rows);
    months.push({ month: monthText(month.from), rows, open_minutes: open, missing_minutes: missing });
  }
  return months;
}

function rowOf(
  listing: Listing,
  months: readonly MonthCoverage[],
  stored: readonly StoredMonth[],
  changedS: number | null,
): CoverageRow {
  const { ticker, name, asset_class, base_currency, quote_currency } = toInstrument(listing);
  const [first, last] = [stored[0]?.first, stored.at(-1)?.last];
  const years = groupBy(months, ({ month }) => Number(month.slice(0, 4)));
  return {
    ticker,
    name,
    asset_class,
    base_currency,
    quote_currency,
    ...totalOf(months),
    first_at: first === undefined ? null : isoOf(first),
    last_at: last === undefined ? null : isoOf(last),
    changed_at: changedS === null ? null : isoOf(changedS),
    years: [...years].map(([year, parts]) => ({ year, ...totalOf(parts) })),
  };
}

/** The one source of the sandbox. */
function formulaSource(months: readonly MonthCoverage[]): CoverageSource[] {
  const filled = months.filter(({ rows }) => rows > 0);
  const [first, last] = [filled[0]?.month, filled.at(-1)?.month];
  if (first === undefined || last === undefined) return [];
  const { rows } = totalOf(filled);
  return [{ kind: "formula", provider: null, rows, count: null, first_month: first, last_month: last, last_at: null }];
}

/** Makes the reports about both venues. */
export function createCoverage({ db, clock, storedData, sandbox }: CoverageOptions): CoverageReports {
  const read = createDataReader();
  const openMinutes = new LRUCache<string, { readonly open: number | null }>({ max: MONTHS_KEPT_COUNT });
  const formulaMonths = new LRUCache<string, StoredMonth>({ max: MONTHS_KEPT_COUNT });
  const formulaYears = new LRUCache<string, DataYearCoverage>({ max: YEARS_KEPT_COUNT });
  const counted = new Map<Venue, CountedVenue>();
  const counting = new Map<Venue, Promise<CountedVenue>>();

  /** How many minutes of a month a calendar has open. Whole months are counted once for each calendar, one in a turn of the event loop. */
  function openOf(calendar: Calendar | undefined, rules: string) {
    return async (span: Minutes): Promise<number | null> => {
      if (calendar === undefined) return null;
      const key = `${rules} ${span.from} ${span.to}`;
      const known = openMinutes.get(key);
      if (known !== undefined) return known.open;
      await nextTurn();
      const sessions = calendar.sessionsBetween(span.from * SECOND_MS, span.to * SECOND_MS);
      const open = sessions === null ? null : countOf(openWithin(span, sessions));
      openMinutes.set(key, { open });
      return open;
    };
  }

  /** The minutes that have ended in the sandbox. */
  const sandboxSpan = () => ({ from: sandbox.startS, to: Math.floor(clock.now() / MINUTE_MS) * MINUTE_S });

  /** A month of the sandbox as if it were stored; undefined for one without prices. */
  async function formulaMonth(
    listing: Listing,
    calendar: Calendar | undefined,
    rules: string,
    span: Minutes,
  ): Promise<StoredMonth | undefined> {
    const key = `${listing.ticker} ${rules} ${span.from} ${span.to}`;
    const known = formulaMonths.get(key);
    if (known !== undefined) return known;
    await nextTurn();
    const runs = sandbox.minutes(listing, calendar, span);
    const [first, last] = [runs[0], runs.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const month = { start: periodOf("M1", span.from).from, rows: countOf(runs), first: first.from, last: last.to - MINUTE_S };
    formulaMonths.set(key, month);
    return month;
  }

  async function formulaHistory(listing: Listing, calendar: Calendar | undefined, rules: string): Promise<StoredMonth[]> {
    const { from, to } = sandboxSpan();
    const months: StoredMonth[] = [];
    for (let month = periodOf("M1", from); month.from < to; month = periodOf("M1", month.to)) {
      const span = { from: Math.max(month.from, from), to: Math.min(month.to, to) };
      const found = await formulaMonth(listing, calendar, rules, span);
      if (found !== undefined) months.push(found);
    }
    return months;
  }

  async function count(venue: Venue): Promise<CountedVenue> {
    const catalogue = await createCatalogue(db, venue);
    const stored = groupBy(venue === "live" ? await allMonths(db.pool) : [], ({ ticker }) => ticker);
    const rulesOf = new Map<Calendar | undefined, string>();
    const tickers = new Map<string, Counted>();
    for (const listing of catalogue.list()) {
      const calendar = catalogue.calendar(listing.ticker);
      const rules =
        rulesOf.get(calendar) ??
        createHash("sha256")
          .update(JSON.stringify(calendar?.rules ?? null))
          .digest("base64");
      rulesOf.set(calendar, rules);
      const own = stored.get(listing.ticker) ?? [];
      const history = venue === "live" ? own : await formulaHistory(listing, calendar, rules);
      const changedS = own.length === 0 ? null : Math.max(...own.map(({ changed }) => changed));
      const months = await coverMonths(history, openOf(calendar, rules));
      tickers.set(listing.ticker, { row: rowOf(listing, months, history, changedS), listing, calendar, months });
    }
    return { atMs: clock.now(), tickers };
  }

  function countedOf(venue: Venue): CountedVenue | Promise<CountedVenue> {
    const known = counted.get(venue);
    if (known !== undefined && clock.now() - known.atMs < COUNTED_KEPT_MS) return known;
    const running = counting.get(venue);
    if (running !== undefined) return running;
    const begun = count(venue)
      .then((now) => {
        counted.set(venue, now);
        return now;
      })
      .finally(() => counting.delete(venue));
    counting.set(venue, begun);
    return begun;
  }

  async function formulaYear({ listing, calendar, row }: Counted, year: number): Promise<DataYearCoverage | undefined> {
    if (row.first_at === null || row.last_at === null) return undefined;
    const whole = yearSpan(year);
    const [first, end] = [Date.parse(row.first_at) / SECOND_MS, Date.parse(row.last_at) / SECOND_MS + MINUTE_S];
    const span = { from: Math.max(whole.from, first), to: Math.min(whole.to, end) };
    if (span.from >= span.to) return undefined;
    const key = JSON.stringify([listing.ticker, span, calendar?.rules]);
    async function made(): Promise<DataYearCoverage> {
      const { coverage } = coverYear(year, span, sandbox.minutes(listing, calendar, span), calendar, []);
      const whole = { ...coverage, lacking: [] };
      formulaYears.set(key, whole);
      return whole;
    }
    return formulaYears.get(key) ?? read(async () => formulaYears.get(key) ?? made());
  }

  return {
    async list(venue) {
      const { atMs, tickers } = await countedOf(venue);
      return { venue, at: new Date(atMs).toISOString(), items: [...tickers.values()].map(({ row }) => row) };
    },

    async ticker(venue, ticker) {
      const known = (await countedOf(venue)).tickers.get(ticker);
      if (known === undefined) return undefined;
      const { row, listing, calendar, months } = known;
      const sources = venue === "live" ? await readSources(db.pool, ticker) : formulaSource(months);
      return { venue, row, calendar: calendar === undefined ? null : (listing.calendar ?? null), months, sources };
    },

    async year(venue, ticker, year) {
      if (venue === "live") return storedData.year(ticker, year);
      const known = (await countedOf(venue)).tickers.get(ticker);
      return known && formulaYear(known, year);
    },
  };
}
