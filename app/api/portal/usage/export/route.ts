import { usageCsv } from "#lib/access/usage/csv";
import { UsageQuery, usageSpan } from "#lib/access/usage/query";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The usage as CSV. */
export const GET = portalRoute({ input: UsageQuery, user: "required" }, async ({ input, user, running }) => {
  const span = usageSpan(input, running.clock);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return new Response(await usageCsv(running.db.pool, user.accountId, span), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="usage-${day(span.fromMs)}-${day(span.toMs)}-${span.grain}.csv"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
  });
});

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
