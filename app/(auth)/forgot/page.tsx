import type { Metadata } from "next";
import Link from "next/link";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { ForgotForm } from "#components/auth/forgot-form";
import { RESET_LINK_LIFETIME_S } from "#lib/contract/portal";

export const metadata: Metadata = {
  title: "Forgot your password",
  description: "Get a link by email that sets a new password.",
};

/** Requests a link to set a new password. */
export default function ForgotPage() {
  const foot = (
    <Link href="/signin" className={TEXT_LINK}>
      Back to sign-in
    </Link>
  );
  return (
    <AuthCard title="Forgot your password" lead="We'll email you a link to set a new one." foot={foot}>
      <ForgotForm linkLifetimeS={RESET_LINK_LIFETIME_S} />
    </AuthCard>
  );
}
