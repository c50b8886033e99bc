import type { Metadata } from "next";
import Link from "next/link";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { VerifyForm } from "#components/auth/verify-form";
import { buttonClass } from "#components/ui/button";

// The address holds the token: it must not travel on in a Referer.
export const metadata: Metadata = { title: "Verify your e-mail", referrer: "no-referrer" };

/** Where the link of a verification mail leads. */
export default async function VerifyPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  const signedIn = (await signedInUser()) !== undefined;
  const foot = (
    <>
      The link does not work?{" "}
      <Link href={signedIn ? "/dashboard" : "/signin"} className={TEXT_LINK}>
        {signedIn ? "Have another sent" : "Sign in to have another sent"}
      </Link>
    </>
  );
  if (typeof token !== "string" || token === "")
    return (
      <AuthCard title="This link is not whole" lead="Open the link of the mail once more.">
        <Link href={signedIn ? "/dashboard" : "/signin"} className={buttonClass("primary")}>
          {signedIn ? "To the dashboard" : "Sign in"}
        </Link>
      </AuthCard>
    );
  return <VerifyForm token={token} signedIn={signedIn} foot={foot} />;
}
