import { AuditPageQuery, listAudit } from "#lib/access/audit";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The changes to the reader's account. */
export const GET = portalRoute({ input: AuditPageQuery, user: "required" }, ({ input, user, running }) =>
  listAudit(running.db, { ...input, accountId: user.accountId }),
);

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
