import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { PlansView } from "#components/admin/plans-view";

export const metadata: Metadata = { title: "Plans" };

/** Plans and their limits. */
export default async function PlansPage() {
  await requireOperator("/admin/plans");
  return <PlansView />;
}
