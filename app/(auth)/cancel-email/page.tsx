import type { Metadata } from "next";
import Link from "next/link";
import type { PageSearch } from "#app/page-search";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { CancelEmailForm } from "#components/auth/cancel-email-form";
import { buttonClass } from "#components/ui/button";

// The URL contains the token, which must not be passed on in a Referer.
export const metadata: Metadata = { title: "Keep your email address", referrer: "no-referrer" };

/** The target of the link in the email that the old address gets when a change is requested. */
export default async function CancelEmailPage({ searchParams }: PageSearch) {
  const { token } = await searchParams;
  if (typeof token !== "string" || token === "")
    return (
      <AuthCard title="This link is incomplete" lead="Open the link in the email again, or set a new password.">
        <Link href="/forgot" className={buttonClass("primary")}>
          Set a new password
        </Link>
      </AuthCard>
    );
  const foot = (
    <>
      Link not working?{" "}
      <Link href="/forgot" className={TEXT_LINK}>
        Set a new password
      </Link>
    </>
  );
  return (
    <AuthCard title="Keep your email address" lead="This cancels the change and signs you out in every browser." foot={foot}>
      <CancelEmailForm token={token} />
    </AuthCard>
  );
}
