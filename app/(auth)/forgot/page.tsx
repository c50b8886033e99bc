import type { Metadata } from "next";
import Link from "next/link";
import { AuthCard, TEXT_LINK } from "#components/auth/auth-card";
import { ForgotForm } from "#components/auth/forgot-form";
import { RESET_LINK_LIFETIME_S } from "#lib/contract/portal";
import { mailDelivery } from "#server/pages/mail-delivery";
import { runningPortal } from "#server/pages/runtime";

export const metadata: Metadata = {
  title: "Forgot your password",
  description: "Get a link that sets a new password.",
};

const LEADS = {
  email: "We'll email you a link to set a new one.",
  link: "You need a link to set a new one. This installation has no mail server, so it says where the link is.",
};

/** Requests a link to set a new password. */
export default function ForgotPage() {
  const parts = runningPortal();
  const emails = parts === undefined || mailDelivery(parts.env) === "server";
  const foot = (
    <Link href="/signin" className={TEXT_LINK}>
      Back to sign-in
    </Link>
  );
  return (
    <AuthCard title="Forgot your password" lead={emails ? LEADS.email : LEADS.link} foot={foot}>
      <ForgotForm linkLifetimeS={RESET_LINK_LIFETIME_S} />
    </AuthCard>
  );
}
