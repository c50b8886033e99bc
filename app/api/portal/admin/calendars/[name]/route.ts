import { audit } from "#lib/access/audit";
import { DefinitionForm } from "#lib/contract/portal-admin";
import { putDefinition } from "#lib/market/calendar-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Replaces the definition of a calendar. */
export const PUT = portalRoute({ input: DefinitionForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const { before, after } = await putDefinition(running, name, input.definition);
  await audit(running.db.prisma, {
    ...operatorOf(call),
    accountId: null,
    action: "calendar.define",
    target: name,
    before,
    after,
  });
  return { name, definition: after };
});
