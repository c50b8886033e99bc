import { z } from "zod";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import type { Instrument } from "#lib/contract/instrument";
import { ASSET_CLASSES, AssetClass } from "#lib/contract/instrument";
import { StreamName, Timeframe, type Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import { type Calendar, type CalendarOverride, compileCalendar } from "#lib/domain/calendar";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import type { Catalogue } from "./ports";

type Prisma = Database["prisma"];
type ListingRow = Awaited<ReturnType<Prisma["listing"]["findMany"]>>[number];
type CalendarRow = { name: string; definition: unknown; overrides: { state: string; startsAt: Date; endsAt: Date | null }[] };

/** One reading of the database, never changed after it was made. */
interface Contents {
  readonly listings: readonly Listing[];
  readonly byTicker: ReadonlyMap<string, Listing>;
  readonly instruments: ReadonlyMap<string, Instrument>;
  readonly calendars: ReadonlyMap<string, Calendar>;
}

/** A catalogue that can be read again, as control messages ask for. */
export interface ReloadableCatalogue extends Catalogue {
  /** Reads listings and calendars anew; until it resolves, and when it throws, the old contents stand. */
  reload(): Promise<void>;
}

function toListing({ venue: _venue, calendarName, retiredAt: _retiredAt, ...row }: ListingRow): Listing {
  return {
    ...row,
    assetClass: AssetClass.parse(row.assetClass),
    streams: StreamName.array().parse(row.streams),
    timeframes: Timeframe.array().parse(row.timeframes),
    calendar: calendarName,
  };
}

function toOverride({ state, startsAt, endsAt }: CalendarRow["overrides"][number]): CalendarOverride {
  return { state: state === "open" ? "open" : "closed", fromMs: startsAt.getTime(), untilMs: endsAt?.getTime() ?? null };
}

function compile({ name, definition, overrides }: CalendarRow): Calendar {
  try {
    return compileCalendar(CalendarDefinitionSchema.parse(definition), overrides.map(toOverride));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : String(error);
    throw new Error(`Calendar ${name} in the database cannot be used: ${reason}`);
  }
}

function byClassThenTicker(a: Listing, b: Listing): number {
  const classes = ASSET_CLASSES.indexOf(a.assetClass) - ASSET_CLASSES.indexOf(b.assetClass);
  return classes || (a.ticker < b.ticker ? -1 : 1);
}

async function readContents(prisma: Prisma, venue: Venue): Promise<Contents> {
  const [rows, calendars] = await prisma.$transaction([
    prisma.listing.findMany({ where: { venue, retiredAt: null } }),
    prisma.calendar.findMany({ include: { overrides: { orderBy: [{ createdAt: "asc" }, { id: "asc" }] } } }),
  ]);
  const used = new Set(rows.map((row) => row.calendarName));
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
 * @throws Error naming a listing or calendar the database holds in a form that cannot be used.
 */
export async function createCatalogue({ prisma }: Pick<Database, "prisma">, venue: Venue): Promise<ReloadableCatalogue> {
  let contents = await readContents(prisma, venue);
  let reading: Promise<void> = Promise.resolve();
  return {
    list: () => contents.listings,
    find: (ticker) => contents.byTicker.get(ticker),
    instrument: (ticker) => contents.instruments.get(ticker),
    calendar: (ticker) => contents.calendars.get(contents.byTicker.get(ticker)?.calendar ?? ""),
    reload() {
      // One after the other: an older reading must not replace a newer one.
      const next = reading.then(async () => {
        contents = await readContents(prisma, venue);
      });
      reading = next.catch(() => undefined);
      return next;
    },
  };
}
