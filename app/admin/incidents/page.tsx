import type { Metadata } from "next";
import { requireOperator } from "#app/admin/operator";
import { IncidentNotes } from "#components/admin/incident-notes";
import { PageHead } from "#components/ui/card";

export const metadata: Metadata = { title: "Incidents" };

/** Notes of the status page. */
export default async function IncidentsPage() {
  await requireOperator("/admin/incidents");
  return (
    <>
      <PageHead title="Incidents">Tell your users what is happening, and when maintenance is planned.</PageHead>
      <IncidentNotes />
    </>
  );
}
