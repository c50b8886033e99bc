import type { Metadata } from "next";
import { signedInUser } from "#app/session";
import { VerifyForm } from "#components/auth/verify-form";

// The address of a link that 0.1 sent contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Verify your email", referrer: "no-referrer" };

/** Where the links of emails lead that verify an address or change it. */
export default async function VerifyPage() {
  return <VerifyForm signedIn={(await signedInUser()) !== undefined} />;
}
