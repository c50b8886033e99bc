import { liftOverride } from "#lib/market/calendar-admin";
import { calendarAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Ends an override now. */
export const DELETE = portalRoute({ user: "operator" }, async (call) => ({
  override: await liftOverride(calendarAdmin(call), call.params.id ?? ""),
}));

export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = otherMethods({ DELETE });
