import type { ReactNode } from "react";
import { signedInUser } from "#app/session";
import { ProofDialog } from "#components/shell/proof-dialog";
import { SideNav } from "#components/shell/side-nav";
import { Toaster } from "#components/ui/toast";
import { signInChoices } from "#lib/portal/providers";
import { portal } from "#lib/portal/runtime";

/**
 * The pages for operators, with their navigation. It checks no access: each page does so itself, with its own way back after
 * signing in, which a redirect here would override.
 */
export default async function AdminLayout({ children }: { children: ReactNode }) {
  const user = await signedInUser();
  if (!user?.operator) return children;
  // At least as high as the window, so that the footer is out of view from the start: rows that come in would push it down.
  return (
    <div className="mx-auto flex min-h-svh w-full max-w-(--page-width) flex-col gap-6 px-4 pt-3 pb-10 sm:px-8 md:flex-row md:gap-10 md:py-10">
      <SideNav area="Operators" email={user.email} operator />
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <Toaster>
          <ProofDialog user={user} providers={signInChoices(portal().env)} />
          {children}
        </Toaster>
      </main>
    </div>
  );
}
