import { type Calendar, type CalendarDefinition, type CalendarOverride, compileCalendar } from "#lib/domain/calendar";
import { SEED_CALENDARS } from "#lib/domain/calendars/index";
import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { type Listing, toInstrument } from "#lib/domain/instrument";
import type { Catalogue } from "#lib/market/ports";

/** The sandbox's default listings and calendars, without a database, and functions to edit them as an operator would. */
interface SandboxCatalogue extends Catalogue {
  /** Adds a listing, or replaces it with an edited one. */
  put(listing: Listing): void;
  /** Overrides a calendar by name. */
  override(name: string, overrides: readonly CalendarOverride[]): void;
}

export function createSandboxCatalogue(): SandboxCatalogue {
  const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));
  const definitions = new Map<string, CalendarDefinition>(Object.entries(SEED_CALENDARS));
  const calendars = new Map<string, Calendar>(
    [...definitions].map(([name, definition]) => [name, compileCalendar(definition, [])]),
  );
  return {
    list: () => [...listings.values()],
    find: (ticker) => listings.get(ticker),
    instrument(ticker) {
      const listing = listings.get(ticker);
      return listing && toInstrument(listing);
    },
    calendar: (ticker) => calendars.get(listings.get(ticker)?.calendar ?? ""),
    put: (listing) => listings.set(listing.ticker, listing),
    override: (name, overrides) => calendars.set(name, compileCalendar(definitions.get(name), overrides)),
  };
}
