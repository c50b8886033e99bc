import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Prisma } from "#lib/generated/prisma/client";

/** The account behind the public demo key. */
export const DEMO_ACCOUNT = "demo";

function listingRow(venue: Venue, { calendar, streams, timeframes, ...listing }: Listing): Prisma.ListingCreateManyInput {
  return { venue, ...listing, calendarName: calendar, streams: [...streams], timeframes: [...timeframes] };
}

/**
 * Puts in what every installation starts with: plans, calendars, listings of both venues, the demo account. Rows that
 * are there stay as they are, so what an operator edited or retired is kept; may be repeated.
 */
export async function seed({ prisma }: Pick<Database, "prisma">): Promise<void> {
  const skipDuplicates = true;
  await prisma.$transaction([
    prisma.plan.createMany({ data: Object.entries(PLAN_DEFAULTS).map(([name, plan]) => ({ name, ...plan })), skipDuplicates }),
    prisma.calendar.createMany({
      data: Object.entries(SEED_CALENDARS).map(([name, definition]) => ({
        name,
        // Definitions are plain data; only their readonly marks keep them from being JSON for the compiler.
        definition: definition as unknown as Prisma.InputJsonObject,
      })),
      skipDuplicates,
    }),
    prisma.listing.createMany({
      data: [
        ...LIVE_LISTINGS.map((listing) => listingRow("live", listing)),
        ...SANDBOX_LISTINGS.map((listing) => listingRow("sandbox", listing)),
      ],
      skipDuplicates,
    }),
    prisma.account.createMany({ data: [{ name: DEMO_ACCOUNT, planName: "demo" }], skipDuplicates }),
  ]);
}
