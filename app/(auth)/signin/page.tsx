import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { nextPath } from "#app/next-path";
import type { PageSearch } from "#app/page-search";
import { signedInUser } from "#app/session";
import { SignInForm } from "#components/auth/sign-in-form";
import { Email } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import { portal } from "#server/pages/runtime";
import { type SignInChoice, signInChoices } from "#server/pages/sign-in/providers";
import { signUpMode, termsOf } from "#server/pages/sign-up-rules";

export const metadata: Metadata = {
  title: "Sign in",
  description: "Sign in to create API keys and see their usage and request logs.",
};

/** Other ways to sign in; none before the service is up. */
function choices(): SignInChoice[] {
  try {
    return signInChoices(portal().env);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

/** Sign-in, which then returns to the requested page. */
export default async function SignInPage({ searchParams }: PageSearch) {
  const { next: asked, error, email } = await searchParams;
  const next = nextPath(asked);
  if ((await signedInUser()) !== undefined) redirect(next);
  return (
    <SignInForm
      next={next}
      email={Email.safeParse(email).data}
      providers={choices()}
      terms={termsOf()}
      signUp={signUpMode() !== "closed"}
      error={typeof error === "string" ? error : undefined}
    />
  );
}
