import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { requireUser } from "#app/session";
import { LogsView } from "#components/logs/logs-view";
import { operations } from "#lib/contract/operations";

export const metadata: Metadata = { title: "Logs" };

/** The latest requests. Its filters are kept in the URL, so that they can be shared. */
export default async function LogsPage({ searchParams }: PageSearch) {
  const asked = await searchParams;
  const query = Object.entries(asked).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const search = new URLSearchParams(query).toString();
  await requireUser(search === "" ? "/dashboard/logs" : `/dashboard/logs?${search}`);
  return <LogsView operations={Object.keys(operations)} />;
}
