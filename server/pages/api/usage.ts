import { MonthQuery } from "#lib/contract/portal-billing";
import { monthOf } from "#lib/domain/month";
import { isoDate } from "#lib/units";
import { overview } from "#server/pages/overview";
import { csvResponse, portalRoute } from "#server/pages/route";
import { usageCsv } from "#server/store/usage/csv";
import { monthReport } from "#server/store/usage/months";
import { UsageQuery, usageReport, usageSpan } from "#server/store/usage/query";
import { explainRequest, LogQuery, listRequests, requestHistogram, requestsCsv } from "#server/store/usage/request-log-query";

export const usageRoutes = [
  /** The reader's account at a glance. */
  portalRoute("GET /overview", { user: "view" }, ({ user, running }) => overview(running, user)),

  /** The usage of the account's keys. */
  portalRoute("GET /usage", { input: UsageQuery, user: "view" }, ({ input, user, running }) =>
    usageReport(running.db.pool, user.accountId, usageSpan(input, running.clock)),
  ),

  /** The units of a month, day by day, beside the quota. */
  portalRoute("GET /usage/month", { input: MonthQuery, user: "view" }, ({ input, user, running: { db, clock } }) => {
    const nowMs = clock.now();
    return monthReport(db.pool, user.accountId, input.month ?? monthOf(nowMs), nowMs);
  }),

  /** The usage as CSV. */
  portalRoute("GET /usage/export", { input: UsageQuery, user: "view" }, async ({ input, user, running }) => {
    const span = usageSpan(input, running.clock);
    const name = `usage-${isoDate(span.fromMs)}-${isoDate(span.toMs)}-${span.grain}`;
    return csvResponse(await usageCsv(running.db.pool, user.accountId, span), name);
  }),

  /** The latest requests of the reader's account. */
  portalRoute("GET /logs", { input: LogQuery, user: "logs" }, ({ input, user, running }) =>
    listRequests(running.db.pool, user.accountId, input),
  ),

  /** The latest requests as CSV. */
  portalRoute("GET /logs/export", { input: LogQuery, user: "logs" }, async ({ input, user, running }) =>
    csvResponse(await requestsCsv(running.db.pool, user.accountId, input), "requests"),
  ),

  /** How many requests match the filters of the log, over the last day. */
  portalRoute("GET /logs/histogram", { input: LogQuery, user: "logs" }, async ({ input, user, running }) => ({
    items: await requestHistogram(running.db.pool, user.accountId, input, running.clock.now()),
  })),

  /** One request, and why it was refused. */
  portalRoute("GET /logs/[request_id]", { user: "logs" }, ({ user, params, running }) =>
    explainRequest(running.db.pool, user.accountId, params.request_id, running.env.PUBLIC_URL ?? ""),
  ),
];
