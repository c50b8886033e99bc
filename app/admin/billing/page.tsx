import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { BillingView } from "#components/admin/billing-view";
import { monthOf } from "#lib/domain/month";
import { portal } from "#server/pages/runtime";

export const metadata: Metadata = { title: "Billing" };

/** Usage of all accounts by month. */
export default async function BillingPage() {
  await requireOperator("/admin/billing");
  return <BillingView current={monthOf(portal().clock.now())} />;
}
