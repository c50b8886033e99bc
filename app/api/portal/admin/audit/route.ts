import { AuditPageQuery, listAudit } from "#lib/access/audit";
import { portalRoute } from "#lib/portal/route";

/** The audit log of the whole installation. */
export const GET = portalRoute({ input: AuditPageQuery, user: "operator" }, ({ input, running }) => listAudit(running.db, input));
