import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { signedInUser } from "#app/session";
import { SignUpForm } from "#components/auth/sign-up-form";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { signUpMode, termsOf } from "#server/pages/sign-up-rules";

export const metadata: Metadata = {
  title: "Create an account",
  description: "Create an account to get API keys for quotes, klines and streams.",
};

/** Sign-up in one form. */
export default async function SignUpPage() {
  if ((await signedInUser()) !== undefined) redirect("/dashboard");
  return <SignUpForm mode={signUpMode()} terms={termsOf()} passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />;
}
