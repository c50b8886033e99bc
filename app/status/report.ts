import { createHealthReport } from "#lib/market/health-report";

/** The health report, created once per process, for the status page and status.json. */
export const reportHealth = createHealthReport();
