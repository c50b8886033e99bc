import { listCalendars } from "#lib/market/calendar-admin";
import { portalRoute } from "#lib/portal/route";

/** All calendars by name, with the overrides that have not ended. */
export const GET = portalRoute({ user: "operator" }, async ({ running }) => ({ items: await listCalendars(running) }));
