import { reportHealth } from "#app/status/report";
import { healthReport } from "#lib/http/operational";

/** The state of the service, for its status page and for monitors on any site. */
const report = healthReport(reportHealth);

export { report as DELETE, report as GET, report as OPTIONS, report as PATCH, report as POST, report as PUT };
