import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { HealthView } from "#components/admin/health-view";

export const metadata: Metadata = { title: "Health" };

/** Whether all is well. */
export default async function HealthPage() {
  await requireOperator("/admin");
  return <HealthView />;
}
