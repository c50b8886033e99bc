import { audit } from "#lib/access/audit";
import { OverrideForm } from "#lib/contract/portal-admin";
import { addOverride } from "#lib/market/calendar-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Forces a calendar open or closed. */
export const POST = portalRoute({ input: OverrideForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const override = await addOverride(running, name, input);
  await audit(running.db.prisma, {
    ...operatorOf(call),
    accountId: null,
    action: "calendar.override",
    target: name,
    after: override,
  });
  return { override };
});
