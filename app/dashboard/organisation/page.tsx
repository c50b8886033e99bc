import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { OrganisationView } from "#components/organisation/organisation-view";

export const metadata: Metadata = { title: "Organisation" };

/** Members, invitations and settings of the organisation, and who changed what. */
export default async function OrganisationPage() {
  const user = await requireUser("/dashboard/organisation");
  return <OrganisationView user={user} />;
}
