import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AccountsView } from "#components/admin/accounts-view";

export const metadata: Metadata = { title: "Accounts" };

/** All accounts, with their plans and permissions. */
export default async function AccountsPage() {
  await requireOperator("/admin/accounts");
  return <AccountsView />;
}
