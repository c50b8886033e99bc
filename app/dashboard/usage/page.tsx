import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { UsageView } from "#components/usage/usage-view";
import { portal } from "#lib/portal/runtime";

export const metadata: Metadata = { title: "Usage" };

/** Calls with their results and latencies. */
export default async function UsagePage() {
  await requireUser("/dashboard/usage");
  return <UsageView openedMs={portal().clock.now()} />;
}
