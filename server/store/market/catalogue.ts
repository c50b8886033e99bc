import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import type { Instrument } from "#lib/contract/instrument";
import { ASSET_CLASSES, AssetClass } from "#lib/contract/instrument";
import { StreamName, Timeframe, type Venue } from "#lib/contract/primitives";
import { type Calendar, type CalendarOverride, compileCalendar } from "#lib/domain/calendar";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import { requireValid } from "#lib/fault";
import type { Catalogue } from "#lib/market/ports";
import type { Database } from "#server/store/database/db";

type Pool = Database["pool"];
type ListingRow = { [Field in keyof Listing]: unknown };
type CalendarRow = {
  name: string;
  definition: unknown;
  overrides: { state: string; starts_at: string; ends_at: string | null }[];
};

// Without Prisma: its first query would delay the start by a quarter of a second.
const LISTINGS = `
  SELECT ticker, asset_class AS "assetClass", base, quote, digits, pip_size AS "pipSize", streams, timeframes, calendar,
         stale_after_s AS "staleAfterS", open_grace_s AS "openGraceS"
    FROM listing WHERE venue = $1 AND retired_at IS NULL`;
const CALENDARS = `
  SELECT name, definition, coalesce(json_agg(o ORDER BY o.created_at, o.id) FILTER (WHERE o.id IS NOT NULL), '[]') AS overrides
    FROM calendar c LEFT JOIN calendar_override o ON o.calendar = c.name
   GROUP BY c.name`;

/** The result of one read of the database; immutable. */
interface Contents {
  readonly listings: readonly Listing[];
  readonly byTicker: ReadonlyMap<string, Listing>;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly calendars: ReadonlyMap<string, Calendar>;
}

/** A catalogue that control messages can reload. */
export interface ReloadableCatalogue extends Catalogue {
  /** Reloads listings and calendars. Until it resolves, and when it throws, the old contents stay in use. */
  reload(): Promise<void>;
}

/** Converts a row to a listing; validates the columns that only operators write. */
function toListing(row: ListingRow): Listing {
  return {
    ...(row as Listing),
    assetClass: AssetClass.parse(row.assetClass),
    streams: StreamName.array().parse(row.streams),
    timeframes: Timeframe.array().parse(row.timeframes),
  };
}

function toOverride({ state, starts_at, ends_at }: CalendarRow["overrides"][number]): CalendarOverride {
  const untilMs = ends_at === null ? null : Date.parse(ends_at);
  return { state: state === "open" ? "open" : "closed", fromMs: Date.parse(starts_at), untilMs };
}

function compile({ name, definition, overrides }: CalendarRow): Calendar {
  try {
    return compileCalendar(requireValid(CalendarDefinitionSchema, definition), overrides.map(toOverride));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Calendar ${name} in the database is invalid: ${reason}`);
  }
}

function byClassThenTicker(a: Listing, b: Listing): number {
  const classes = ASSET_CLASSES.indexOf(a.assetClass) - ASSET_CLASSES.indexOf(b.assetClass);
  return classes || (a.ticker < b.ticker ? -1 : 1);
}

async function readContents(pool: Pool, venue: Venue): Promise<Contents> {
  const { rows } = await pool.query<ListingRow>(LISTINGS, [venue]);
  const { rows: calendars } = await pool.query<CalendarRow>(CALENDARS);
  const used = new Set(rows.map((row) => row.calendar));
  const listings = rows.map(toListing).sort(byClassThenTicker);
  return {
    listings,
    byTicker: new Map(listings.map((listing) => [listing.ticker, listing])),
    instruments: new Map(listings.map((listing) => [listing.ticker, toInstrument(listing)])),
    calendars: new Map(calendars.filter(({ name }) => used.has(name)).map((row) => [row.name, compile(row)])),
  };
}

/**
 * Reads the listings and calendars of a venue.
 * @throws Error that names the listing or calendar that is invalid in the database.
 */
export async function createCatalogue({ pool }: Pick<Database, "pool">, venue: Venue): Promise<ReloadableCatalogue> {
  let contents = await readContents(pool, venue);
  let reading: Promise<void> = Promise.resolve();
  return {
    list: () => contents.listings,
    find: (ticker) => contents.byTicker.get(ticker),
    instrument: (ticker) => contents.instruments.get(ticker),
    calendar: (ticker) => contents.calendars.get(contents.byTicker.get(ticker)?.calendar ?? ""),
    reload() {
      // One read at a time: an older result must not replace a newer one.
      const next = reading.then(async () => {
        contents = await readContents(pool, venue);
      });
      reading = next.catch(() => undefined);
      return next;
    },
  };
}
