import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { nextPath } from "#app/next-path";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { SignInForm } from "#components/auth/sign-in-form";
import { isFault } from "#lib/fault";
import { type SignInChoice, signInChoices } from "#lib/portal/providers";
import { runtime } from "#lib/runtime";

export const metadata: Metadata = { title: "Sign in" };

/** Why a sign-in at a provider came back without one; anything else is told in general. */
const REASONS: Readonly<Record<string, string>> = {
  email_not_verified: "That provider does not vouch for your e-mail address. Verify it there, or sign in with a password.",
  account_suspended: "This account is suspended. Contact the operator of this installation.",
};
const NO_SIGN_IN = "The sign-in did not come about. Try again.";

/** Where else one can sign in; nowhere before the service is up. */
function choices(): SignInChoice[] {
  try {
    return signInChoices(runtime().env);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

/** Sign-in, and from there to the page that asked for it. */
export default async function SignInPage({ searchParams }: PageSearch) {
  const { next: asked, error } = await searchParams;
  const next = nextPath(asked);
  if ((await signedInUser()) !== undefined) redirect(next);
  const foot = (
    <>
      New here?{" "}
      <Link href="/signup" className={TEXT_LINK}>
        Create an account
      </Link>
    </>
  );
  return (
    <AuthCard title="Sign in" lead="To your keys, usage and logs." foot={foot}>
      {typeof error === "string" ? (
        <p role="alert" className="mb-5 rounded-lg border border-danger/40 bg-surface p-4 text-sm leading-6">
          {REASONS[error] ?? NO_SIGN_IN}
        </p>
      ) : null}
      <SignInForm next={next} providers={choices()} />
    </AuthCard>
  );
}
