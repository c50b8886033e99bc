import { handler } from "#lib/operations/marketSummary/answer";
import { routeOf } from "#server/pages/call-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = routeOf(handler);
