import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { AuditView } from "#components/admin/audit-view";

export const metadata: Metadata = { title: "Audit log" };

/** The audit log. */
export default async function AuditPage() {
  await requireOperator("/admin/audit");
  return <AuditView />;
}
