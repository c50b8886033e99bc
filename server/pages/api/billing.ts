import { toPortalKey } from "#lib/access/key-json";
import { BillingKeyForm, BillingQuery } from "#lib/contract/portal-billing";
import { notifyOfKey } from "#server/pages/api/keys";
import { noteRead, operatorOf } from "#server/pages/audit";
import { csvResponse, portalRoute } from "#server/pages/route";
import { createKey } from "#server/store/access/keys";
import { billingCsv, billingReport } from "#server/store/usage/billing";

export const billingRoutes = [
  /** Usage of all accounts in a month, as JSON or CSV, for operators and their keys. */
  portalRoute("GET /admin/usage", { input: BillingQuery, user: "billing" }, async ({ input, user, running, visitor }) => {
    const { month, format } = input;
    if (user !== undefined) await noteRead({ user, running, visitor }, { target: "usage of all accounts", after: { month } });
    if (format !== "csv") return billingReport(running.db.pool, month);
    return csvResponse(await billingCsv(running.db.pool, month), `billing-${month}`);
  }),

  /** Creates a key of the operator's account that reads usage and nothing else; only this answer contains its text. */
  portalRoute("POST /admin/usage/keys", { input: BillingKeyForm, user: "operator" }, async (call) => {
    const { input, user, running } = call;
    const settings = { ...input, accountId: user.accountId, venue: "sandbox", scopes: ["billing:read"], origins: [] };
    const { text, record } = await createKey(running, settings, operatorOf(call));
    await notifyOfKey(call, record.name, "created");
    return { text, key: toPortalKey(record) };
  }),
];
