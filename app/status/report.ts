import { createHealthReport } from "#lib/market/health-report";

/** How the service is: one report a process, for the page and for its address. */
export const reportHealth = createHealthReport();
