import type { Metadata } from "next";
import { type PageSearch, searchText } from "#app/page-search";
import { requireUser } from "#app/session";
import { UsageView } from "#components/usage/usage-view";
import { portal } from "#server/pages/runtime";

export const metadata: Metadata = { title: "Usage" };

/** Calls with their results and latencies. Its filters are kept in the URL, so that they can be shared. */
export default async function UsagePage({ searchParams }: PageSearch) {
  await requireUser(`/dashboard/usage${searchText(await searchParams)}`);
  return <UsageView openedMs={portal().clock.now()} />;
}
