import { listCalendars } from "#lib/market/calendar-admin";
import { portalRoute } from "#lib/portal/route";

export const GET = portalRoute({ user: "operator" }, async ({ running }) => ({ items: await listCalendars(running) }));
