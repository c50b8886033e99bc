import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { FeedsView } from "#components/admin/feeds-view";
import { providerFields } from "#lib/env-feeds";
import { TERMS } from "#lib/provider-terms";

export const metadata: Metadata = { title: "Feeds" };

/** The feeds of the venues, and how far behind they are. */
export default async function FeedsPage() {
  await requireOperator("/admin/feeds");
  return <FeedsView providers={providerFields()} terms={TERMS} />;
}
