import { DefinitionForm } from "#lib/contract/portal-admin";
import { overridesOf } from "#lib/market/calendar-admin";
import { previewCalendar } from "#lib/market/calendar-preview";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Previews the next two weeks of a definition with the calendar's current overrides, before it is stored. */
export const POST = portalRoute({ input: DefinitionForm, user: "operator", proof: false }, async ({ input, params, running }) =>
  previewCalendar(input.definition, await overridesOf(running, params.name ?? ""), running.clock.now()),
);

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
