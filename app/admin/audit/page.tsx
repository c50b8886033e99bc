import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { type PageSearch, searchText } from "#app/page-search";
import { AuditView } from "#components/admin/audit-view";
import { AUDIT_KINDS } from "#lib/contract/portal-activity";

export const metadata: Metadata = { title: "Audit log" };

/** The audit log. */
export default async function AuditPage({ searchParams }: PageSearch) {
  await requireOperator(`/admin/audit${searchText(await searchParams)}`);
  return <AuditView kinds={AUDIT_KINDS} />;
}
