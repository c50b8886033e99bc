import { DefinitionForm } from "#lib/contract/portal-admin";
import { overridesOf } from "#lib/market/calendar-admin";
import { previewCalendar } from "#lib/market/calendar-preview";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { DAY_MS } from "#lib/units";

/** Previews the next two weeks of a definition with the calendar's current overrides, before it is stored. */
export const POST = portalRoute({ input: DefinitionForm, user: "operator", proof: false }, async ({ input, params, running }) => {
  const nowMs = running.clock.now();
  // A day covers what is over of the viewer's today, in any time zone.
  return previewCalendar(input.definition, await overridesOf(running, params.name ?? ""), nowMs, nowMs - DAY_MS);
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
