import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { type PageSearch, searchText } from "#app/page-search";
import { IncidentNotes } from "#components/admin/incident-notes";
import { PageHead } from "#components/ui/card";
import { INCIDENT_PARTS } from "#lib/contract/uptime";

export const metadata: Metadata = { title: "Incidents" };

/** Notes of the status page. A query that names a problem opens the form of a note about it, one that names a note, its form. */
export default async function IncidentsPage({ searchParams }: PageSearch) {
  const asked = await searchParams;
  await requireOperator(`/admin/incidents${searchText(asked)}`);
  const { title, text, impact, since, part, note } = asked;
  const draft = {
    title: String(title),
    text: String(text ?? ""),
    impact: impact === "down" ? ("down" as const) : ("degraded" as const),
    // Of a problem that was noticed just now nobody knows yet since when.
    starts_at: Number.isNaN(Date.parse(String(since))) ? undefined : String(since),
    part: INCIDENT_PARTS.find((name) => name === part),
  };
  return (
    <>
      <PageHead title="Incidents">Tell your users what is happening, and when maintenance is planned.</PageHead>
      <IncidentNotes draft={title === undefined ? undefined : draft} noteId={note === undefined ? undefined : String(note)} />
    </>
  );
}
