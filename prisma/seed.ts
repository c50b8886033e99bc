import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { Venue } from "#lib/contract/primitives";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Prisma } from "#lib/generated/prisma/client";
import type { Database } from "#server/store/database/db";

/** The account of the public demo key. */
const DEMO_ACCOUNT = "demo";

function listingRow(venue: Venue, { calendar, streams, timeframes, ...listing }: Listing): Prisma.ListingCreateManyInput {
  return { venue, ...listing, calendarName: calendar, streams: [...streams], timeframes: [...timeframes] };
}

const MISSING = `
  SELECT EXISTS (SELECT FROM unnest($1::text[]) AS wanted (name) WHERE name NOT IN (SELECT name FROM plan))
      OR EXISTS (SELECT FROM unnest($2::text[]) AS wanted (name) WHERE name NOT IN (SELECT name FROM calendar))
      OR EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS wanted (venue, ticker)
                  WHERE NOT EXISTS (SELECT FROM listing l WHERE l.venue = wanted.venue AND l.ticker = wanted.ticker))
      OR NOT EXISTS (SELECT FROM account WHERE name = $5) AS missing`;

/** True when all seed rows exist. One statement checks this, because a seed without changes takes Prisma most of a second. */
async function isSeeded(pool: Database["pool"]): Promise<boolean> {
  const keys = [
    ...LIVE_LISTINGS.map(({ ticker }) => ["live", ticker]),
    ...SANDBOX_LISTINGS.map(({ ticker }) => ["sandbox", ticker]),
  ];
  const { rows } = await pool.query<{ missing: boolean }>(MISSING, [
    Object.keys(PLAN_DEFAULTS),
    Object.keys(SEED_CALENDARS),
    keys.map(([venue]) => venue),
    keys.map(([, ticker]) => ticker),
    DEMO_ACCOUNT,
  ]);
  return rows[0]?.missing === false;
}

/**
 * Inserts the initial data of an installation: plans, calendars, listings of both venues, the demo account. Existing rows do
 * not change, so that operators' edits are kept. Can be repeated.
 */
export async function seed({ prisma, pool }: Pick<Database, "prisma" | "pool">): Promise<void> {
  if (await isSeeded(pool)) return;
  const skipDuplicates = true;
  await prisma.$transaction([
    prisma.plan.createMany({ data: Object.entries(PLAN_DEFAULTS).map(([name, plan]) => ({ name, ...plan })), skipDuplicates }),
    prisma.calendar.createMany({
      data: Object.entries(SEED_CALENDARS).map(([name, definition]) => ({
        name,
        // Definitions are plain data; the cast is needed only because their types are readonly.
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
