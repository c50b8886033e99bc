import { reportHealth } from "#app/status/report";
import { healthReport } from "#lib/http/operational";

/** How the service is, for its status page and for monitors on any site. */
export const GET = healthReport(reportHealth);
