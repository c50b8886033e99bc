import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { IncompleteLink, LinkFoot } from "#components/auth/email-link";
import { VerifyForm } from "#components/auth/verify-form";
import { purposeOfLink } from "#lib/access/users/email";
import { runningPortal } from "#lib/portal/runtime";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Verify your email", referrer: "no-referrer" };

/** Where the links of emails lead that verify an address or change it. */
export default async function VerifyPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  const signedIn = (await signedInUser()) !== undefined;
  const otherwise = signedIn
    ? { href: "/dashboard", label: "Send a new link" }
    : { href: "/signin", label: "Sign in to get a new link" };
  if (typeof token !== "string" || token === "") return <IncompleteLink {...otherwise} />;
  const running = runningPortal();
  const purpose = (running && (await purposeOfLink(running.users, token))) ?? "verify";
  const foot = purpose === "verify" ? otherwise : { href: "/dashboard/account", label: "Request the change again" };
  return <VerifyForm token={token} purpose={purpose} signedIn={signedIn} foot={<LinkFoot {...foot} />} />;
}
