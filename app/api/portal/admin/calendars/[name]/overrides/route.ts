import { audit } from "#lib/access/audit";
import { OverrideForm } from "#lib/contract/portal";
import { addOverride } from "#lib/market/calendar-admin";
import { operatorOf } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

export const POST = portalRoute({ input: OverrideForm, user: "operator" }, async (call) => {
  const { input, params, running } = call;
  const name = params.name ?? "";
  const override = await addOverride(running, name, {
    state: input.state,
    startsAt: new Date(input.starts_at ?? running.clock.now()),
    endsAt: input.ends_at === null ? null : new Date(input.ends_at),
    note: input.note,
  });
  await audit(running.db.prisma, {
    ...operatorOf(call),
    accountId: null,
    action: "calendar.override",
    target: name,
    after: override,
  });
  return { override };
});
