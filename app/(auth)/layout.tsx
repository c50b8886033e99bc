import type { ReactNode } from "react";
import { RightAddress } from "#components/auth/right-address";
import { runningPortal } from "#server/pages/runtime";

/** A narrow page with one form; its top stays in place when a notice makes it longer. */
export default function AuthLayout({ children }: { children: ReactNode }) {
  const own = runningPortal()?.env.PUBLIC_URL;
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-md flex-1 px-4 pt-[10dvh] pb-16 outline-none sm:px-8">
      {own === undefined ? null : <RightAddress own={own} />}
      {children}
    </main>
  );
}
