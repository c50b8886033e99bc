import type { ReactNode } from "react";
import { signedInUser } from "#app/session";
import { FactorNotice } from "#components/shell/factor-notice";
import { SignedInArea } from "#components/shell/signed-in-area";
import { VerifyNotice } from "#components/shell/verify-notice";
import { mailDelivery } from "#lib/portal/mail-delivery";
import { signInChoices } from "#lib/portal/providers";
import { portal } from "#lib/portal/runtime";

/**
 * The pages for signed-in users, with their navigation. Each page sends signed-out readers to the sign-in page itself, so that
 * they return to it.
 */
export default async function DashboardLayout({ children }: { children: ReactNode }) {
  const user = await signedInUser();
  if (user === undefined) return children;
  return (
    <SignedInArea area="Dashboard" user={user} providers={signInChoices(portal().env)}>
      {user.operator && !user.secondFactor ? <FactorNotice /> : null}
      {user.emailVerified ? null : <VerifyNotice email={user.email} delivery={mailDelivery(portal().env)} />}
      {children}
    </SignedInArea>
  );
}
