import type { ReactNode } from "react";

/** The main element of a page without navigation, between header and footer. */
export function PageMain({ children }: { children: ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-(--page-width) flex-1 px-4 py-10 outline-none sm:px-8 sm:py-16">
      {children}
    </main>
  );
}
