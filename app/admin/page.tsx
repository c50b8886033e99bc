import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AccountsView } from "#components/admin/accounts-view";

export const metadata: Metadata = { title: "Accounts" };

/** Who uses the service, on which plan, and what they may read. */
export default async function AccountsPage() {
  await requireOperator("/admin");
  return <AccountsView />;
}
