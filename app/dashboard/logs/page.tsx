import type { Metadata } from "next";
import { type PageSearch, searchText } from "#app/page-search";
import { requireUser } from "#app/session";
import { LogsView } from "#components/logs/logs-view";
import { REST_CALLS } from "#lib/operations/link/declaration";

export const metadata: Metadata = { title: "Logs" };

/** The latest requests. Its filters and the opened request are kept in the URL, so that they can be shared. */
export default async function LogsPage({ searchParams }: PageSearch) {
  await requireUser(`/dashboard/logs${searchText(await searchParams)}`);
  return <LogsView operations={REST_CALLS.map(({ id }) => id)} />;
}
