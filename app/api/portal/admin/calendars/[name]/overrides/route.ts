import { OverrideForm } from "#lib/contract/portal-admin";
import { addOverride } from "#lib/market/calendar-admin";
import { calendarAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Forces a calendar open or closed. */
export const POST = portalRoute({ input: OverrideForm, user: "operator" }, async (call) => ({
  override: await addOverride(calendarAdmin(call), call.params.name ?? "", call.input),
}));

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
