import type { Metadata } from "next";
import { signedInUser } from "#app/session";
import { InvitationForm } from "#components/auth/invitation-form";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { termsOf } from "#server/pages/sign-up-rules";

export const metadata: Metadata = { title: "Invitation", referrer: "no-referrer" };

/** Where the link of an invitation leads. */
export default async function InvitationPage() {
  const user = await signedInUser();
  return <InvitationForm signedInAs={user?.email} terms={termsOf()} passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />;
}
