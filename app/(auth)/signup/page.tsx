import type { Metadata } from "next";
import Link from "next/link";
import { redirect } from "next/navigation";
import { signedInUser } from "#app/session";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { SignUpForm } from "#components/auth/sign-up-form";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";

export const metadata: Metadata = { title: "Create an account" };

/** Sign-up in one form. */
export default async function SignUpPage() {
  if ((await signedInUser()) !== undefined) redirect("/dashboard");
  const foot = (
    <>
      Already have an account?{" "}
      <Link href="/signin" className={TEXT_LINK}>
        Sign in
      </Link>
    </>
  );
  return (
    <AuthCard title="Create an account" lead="Create API keys, track their usage, and stream prices." foot={foot}>
      <SignUpForm passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />
    </AuthCard>
  );
}
