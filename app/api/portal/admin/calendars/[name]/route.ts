import { DefinitionForm } from "#lib/contract/portal-admin";
import { putDefinition } from "#lib/market/calendar-admin";
import { calendarAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Replaces the definition of a calendar. */
export const PUT = portalRoute({ input: DefinitionForm, user: "operator" }, async (call) => {
  const name = call.params.name ?? "";
  const { after } = await putDefinition(calendarAdmin(call), name, call.input.definition);
  return { name, definition: after };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, POST } = otherMethods({ PUT });
