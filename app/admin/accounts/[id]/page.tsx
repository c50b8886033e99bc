import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AccountDetail } from "#components/admin/account-detail";
import { mailDelivery } from "#server/pages/mail-delivery";
import { portal } from "#server/pages/runtime";

export const metadata: Metadata = { title: "Account" };

/** One account, with its keys and their use. */
export default async function AccountPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  await requireOperator(`/admin/accounts/${encodeURIComponent(id)}`);
  return <AccountDetail id={id} delivery={mailDelivery(portal().env)} />;
}
