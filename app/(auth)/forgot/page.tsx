import type { Metadata } from "next";
import Link from "next/link";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { ForgotForm } from "#components/auth/forgot-form";

export const metadata: Metadata = { title: "Forgot the password" };

/** The way to a new password. */
export default function ForgotPage() {
  const foot = (
    <Link href="/signin" className={TEXT_LINK}>
      Back to sign-in
    </Link>
  );
  return (
    <AuthCard title="Forgot the password" lead="A mail with a link lets you set a new one." foot={foot}>
      <ForgotForm />
    </AuthCard>
  );
}
