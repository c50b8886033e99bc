import type { ReactNode } from "react";

/** A narrow page with one form; its top stays in place when a notice makes it longer. */
export default function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-md flex-1 px-4 pt-[10dvh] pb-16 outline-none sm:px-8">
      {children}
    </main>
  );
}
