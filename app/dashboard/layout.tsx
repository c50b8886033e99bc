import type { ReactNode } from "react";
import { signedInUser } from "#app/session";
import { FactorNotice } from "#components/shell/factor-notice";
import { ProofDialog } from "#components/shell/proof-dialog";
import { SideNav } from "#components/shell/side-nav";
import { VerifyNotice } from "#components/shell/verify-notice";
import { Toaster } from "#components/ui/toast";
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
  // At least as high as the window, so that the footer is out of view from the start: rows that come in would push it down.
  return (
    <div className="mx-auto flex min-h-svh w-full max-w-(--page-width) flex-col gap-6 px-4 pt-3 pb-10 sm:px-8 md:flex-row md:gap-10 md:py-10">
      <SideNav area="Dashboard" email={user.email} operator={user.operator} />
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <Toaster>
          <ProofDialog user={user} providers={signInChoices(portal().env)} />
          {user.operator && !user.secondFactor ? <FactorNotice /> : null}
          {user.emailVerified ? null : <VerifyNotice email={user.email} delivery={mailDelivery(portal().env)} />}
          {children}
        </Toaster>
      </main>
    </div>
  );
}
