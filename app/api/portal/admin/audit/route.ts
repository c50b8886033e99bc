import { AuditSearchQuery, listAudit } from "#lib/access/audit";
import { otherMethods } from "#lib/portal/methods";
import { noteRead } from "#lib/portal/operator-read";
import { portalRoute } from "#lib/portal/route";

/** The audit log of the whole installation. */
export const GET = portalRoute({ input: AuditSearchQuery, user: "operator" }, async (call) => {
  const page = await listAudit(call.running.db, call.input);
  await noteRead(call, { target: "audit log", after: { page: call.input.before ?? "newest" } });
  return page;
});

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
