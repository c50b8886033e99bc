import type { Metadata } from "next";
import { ResetForm } from "#components/account/reset-form";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";

// The address of a link that 0.1 sent contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Set a new password", referrer: "no-referrer" };

/** Where the link of a reset mail leads. */
export default function ResetPage() {
  return <ResetForm passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />;
}
