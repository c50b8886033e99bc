import type { Metadata } from "next";
import Link from "next/link";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { VerifyForm } from "#components/auth/verify-form";
import { buttonClass } from "#components/ui/button";
import { purposeOfLink } from "#lib/access/users/email";
import { runningPortal } from "#lib/portal/runtime";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Verify your email", referrer: "no-referrer" };

/** Where the links of emails lead that verify an address or change it. */
export default async function VerifyPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  const signedIn = (await signedInUser()) !== undefined;
  const foot = (
    <>
      Link not working?{" "}
      <Link href={signedIn ? "/dashboard" : "/signin"} className={TEXT_LINK}>
        {signedIn ? "Send a new one" : "Sign in to get a new one"}
      </Link>
    </>
  );
  if (typeof token !== "string" || token === "")
    return (
      <AuthCard title="This link is incomplete" lead="Open the link in the email again.">
        <Link href={signedIn ? "/dashboard" : "/signin"} className={buttonClass("primary")}>
          {signedIn ? "Go to the dashboard" : "Sign in"}
        </Link>
      </AuthCard>
    );
  const running = runningPortal();
  const purpose = (running && (await purposeOfLink(running.users, token))) ?? "verify";
  return <VerifyForm token={token} purpose={purpose} signedIn={signedIn} foot={foot} />;
}
