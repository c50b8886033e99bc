import type { ComponentProps, ReactNode } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { Toaster } from "../ui/toast";
import { ProofDialog } from "./proof-dialog";
import { SideNav } from "./side-nav";

interface SignedInAreaProps {
  readonly area: ComponentProps<typeof SideNav>["area"];
  readonly user: PortalUser;
  readonly providers: ComponentProps<typeof ProofDialog>["providers"];
  readonly children: ReactNode;
}

/**
 * The pages of a signed-in section beside their navigation, with the messages and the dialog that they share. It is at least as
 * high as the window, so that the footer is out of view from the start: rows that come in would push it down.
 */
export function SignedInArea({ area, user, providers, children }: SignedInAreaProps) {
  return (
    <div className="mx-auto flex min-h-svh w-full max-w-(--page-width) flex-col gap-6 px-4 pt-3 pb-10 sm:px-8 md:flex-row md:gap-10 md:py-10">
      <SideNav area={area} user={user} />
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <Toaster>
          <ProofDialog user={user} providers={providers} />
          {children}
        </Toaster>
      </main>
    </div>
  );
}
