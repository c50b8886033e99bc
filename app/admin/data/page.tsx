import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { DataOverview } from "#components/admin/data/overview";

export const metadata: Metadata = { title: "Data" };

/** What is stored of each instrument. */
export default async function DataPage() {
  await requireOperator("/admin/data");
  return <DataOverview />;
}
