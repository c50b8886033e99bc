import type { Metadata } from "next";
import { CancelEmailForm } from "#components/auth/cancel-email-form";

// The address of a link that 0.1 sent contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Keep your email address", referrer: "no-referrer" };

/** The target of the link in the email that the old address gets when a change is requested. */
export default function CancelEmailPage() {
  return <CancelEmailForm />;
}
