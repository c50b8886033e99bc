import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AuditView } from "#components/admin/audit-view";

export const metadata: Metadata = { title: "Audit log" };

/** Who changed what. */
export default async function AuditPage() {
  await requireOperator("/admin/audit");
  return <AuditView />;
}
