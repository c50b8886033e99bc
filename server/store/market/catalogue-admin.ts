import { z } from "zod";
import type { Clock } from "#lib/clock";
import { AssetClass } from "#lib/contract/instrument";
import { STREAMS, Ticker, Timeframe, type Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";

const DIGITS_MAX = 10;
/** Largest value of a PostgreSQL integer. */
const SECONDS_MAX = 2_147_483_647;

/** Enough of a transaction to write an audit entry in it. */
type Transaction = Pick<Database["prisma"], "auditEntry">;

/** A change to a listing. */
interface ListingChange {
  readonly action: "instrument.add" | "instrument.retire" | "instrument.restore";
  /** The ticker. */
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What listings are changed with. */
export interface CatalogueAdmin {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(transaction: Transaction, change: ListingChange): Promise<void>;
}

const currency = z.string().regex(/^[A-Z0-9]{2,10}$/, "must be 2 to 10 capital letters and digits.");

const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

/** The form of a new listing. The sandbox's asset class cannot be used. */
export const ListingForm = z.object({
  ticker: Ticker,
  assetClass: AssetClass.exclude(["test"]),
  base: currency,
  quote: currency,
  digits: wholeNumber(0, DIGITS_MAX),
  pipSize: z.coerce.number().positive(),
  /** Name of a calendar; null for none. */
  calendar: z.string().nullable(),
  staleAfterS: wholeNumber(1, SECONDS_MAX),
  openGraceS: wholeNumber(1, SECONDS_MAX),
  timeframes: z.array(Timeframe).min(1),
});
export type ListingForm = z.infer<typeof ListingForm>;

const refuse = (parameter: string, detail: string) => new Fault("invalid_parameter", { parameter, detail });

async function requireCalendar({ db }: CatalogueAdmin, calendar: string): Promise<void> {
  const rows = await db.prisma.calendar.findMany({ select: { name: true }, orderBy: { name: "asc" } });
  const names = rows.map(({ name }) => name);
  if (!names.includes(calendar))
    throw refuse("calendar", `There is no calendar ${calendar}. Use one of ${names.join(", ")}, or none.`);
}

/**
 * Adds a listing. Running services offer it at once.
 * @throws Fault invalid_parameter for an unknown calendar, or a ticker that the venue already lists
 */
export async function addListing(context: CatalogueAdmin, venue: Venue, form: ListingForm): Promise<void> {
  const { db, record } = context;
  const { calendar, ...columns } = form;
  if (calendar !== null) await requireCalendar(context, calendar);
  await db.prisma.$transaction(async (tx) => {
    const { count } = await tx.listing.createMany({
      data: [{ venue, ...columns, calendarName: calendar, streams: [...STREAMS] }],
      skipDuplicates: true,
    });
    if (count === 0) throw refuse("ticker", `${form.ticker} is already listed on ${venue}. If it is retired, restore it.`);
    await record(tx, { action: "instrument.add", target: form.ticker, before: null, after: { venue, ...form } });
  });
  await db.control.publish({ kind: "listings", venue });
}

/**
 * Retires listings, or restores them. History stays. Running services apply the change at once. A listing that is already
 * in that state does not change.
 * @throws Fault invalid_parameter that names every ticker the venue does not list; then nothing changes
 */
export async function setRetired(
  { db, clock, record }: CatalogueAdmin,
  venue: Venue,
  tickers: readonly string[],
  retired: boolean,
): Promise<void> {
  const retiredAt = retired ? new Date(clock.now()) : null;
  await db.prisma.$transaction(async (tx) => {
    const rows = await tx.listing.findMany({ where: { venue, ticker: { in: [...tickers] } }, orderBy: { ticker: "asc" } });
    const unknown = tickers.filter((ticker) => !rows.some((row) => row.ticker === ticker));
    if (unknown.length > 0) throw refuse("ticker", `Not listed on ${venue}: ${unknown.join(", ")}.`);
    for (const { ticker, retiredAt: before } of rows.filter((row) => (row.retiredAt !== null) !== retired)) {
      await tx.listing.update({ where: { venue_ticker: { venue, ticker } }, data: { retiredAt } });
      await record(tx, {
        action: retired ? "instrument.retire" : "instrument.restore",
        target: ticker,
        before: { venue, retired_at: before },
        after: { venue, retired_at: retiredAt },
      });
    }
  });
  await db.control.publish({ kind: "listings", venue });
}
