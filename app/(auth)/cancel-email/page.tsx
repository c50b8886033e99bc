import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { CancelEmailForm } from "#components/auth/cancel-email-form";
import { IncompleteLink, LinkFoot } from "#components/auth/email-link";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Keep your email address", referrer: "no-referrer" };

const OTHERWISE = { href: "/forgot", label: "Set a new password" };

/** The target of the link in the email that the old address gets when a change is requested. */
export default async function CancelEmailPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  if (typeof token !== "string" || token === "") return <IncompleteLink {...OTHERWISE} />;
  return <CancelEmailForm token={token} foot={<LinkFoot {...OTHERWISE} />} />;
}
