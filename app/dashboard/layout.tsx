import type { ReactNode } from "react";
import { signedInUser } from "#app/session";
import { AreaNotice } from "#components/shell/area-notice";
import { SignedInArea } from "#components/shell/signed-in-area";
import { VerifyNotice } from "#components/shell/verify-notice";
import { may, ROLE_WORDS } from "#lib/contract/roles";
import { mailDelivery } from "#server/pages/mail-delivery";
import { portal } from "#server/pages/runtime";
import { signInChoices } from "#server/pages/sign-in/providers";

/**
 * The pages for signed-in users, with their navigation. Each page sends signed-out readers to the sign-in page itself, so that
 * they return to it.
 */
export default async function DashboardLayout({ children }: { children: ReactNode }) {
  const user = await signedInUser();
  if (user === undefined) return children;
  return (
    <SignedInArea area="Dashboard" user={user} providers={signInChoices(portal().env)}>
      {user.lacksFactor || (user.operator && !user.secondFactor) ? (
        <AreaNotice title={`${user.operator ? "Operators" : `Members of ${user.organisation}`} need a second factor.`}>
          Add a passkey or an authenticator app on this page. The other pages open once you have one.
        </AreaNotice>
      ) : null}
      {user.waiting ? (
        <AreaNotice title="Your account waits for approval.">
          {mailDelivery(portal().env) === "server" ? "You get an email once an operator has decided." : "An operator decides."}{" "}
          Until then you cannot create keys.
        </AreaNotice>
      ) : null}
      {may(user.role, "build") ? null : (
        <AreaNotice title={`Your role in ${user.organisation} is ${user.role}.`}>{ROLE_WORDS[user.role]}.</AreaNotice>
      )}
      {user.emailVerified ? null : <VerifyNotice email={user.email} />}
      {children}
    </SignedInArea>
  );
}
