import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AccountDetail } from "#components/admin/account-detail";

export const metadata: Metadata = { title: "Account" };

/** One account, with its keys and their use. */
export default async function AccountPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  await requireOperator(`/admin/accounts/${encodeURIComponent(id)}`);
  return <AccountDetail id={id} />;
}
