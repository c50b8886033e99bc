import { DefinitionForm } from "#lib/contract/portal";
import { previewOf } from "#lib/market/calendar-admin";
import { portalRoute } from "#lib/portal/route";

/** What a definition would say of the coming fortnight, with the overrides that the calendar has, before it is stored. */
export const POST = portalRoute({ input: DefinitionForm, user: "operator" }, ({ input, params, running }) =>
  previewOf(running, params.name ?? "", input.definition),
);
