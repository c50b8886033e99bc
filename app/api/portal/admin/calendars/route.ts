import { listCalendars } from "#lib/market/calendar-admin";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** All calendars by name, with the overrides that have not ended. */
export const GET = portalRoute({ user: "operator" }, async ({ running }) => ({ items: await listCalendars(running) }));

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
