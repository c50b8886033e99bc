import { audit } from "#lib/access/audit";
import { liftOverride } from "#lib/market/calendar-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Ends an override now. */
export const DELETE = portalRoute({ user: "operator" }, async (call) => {
  const { params, running } = call;
  const { calendar, override } = await liftOverride(running, params.id ?? "");
  await audit(running.db.prisma, {
    ...operatorOf(call),
    accountId: null,
    action: "calendar.lift",
    target: calendar,
    before: override,
  });
  return { override };
});
