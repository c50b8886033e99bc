import type { ReactNode } from "react";

/** A narrow page with one form. */
export default function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <main
      id="main"
      tabIndex={-1}
      className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center px-4 py-12 outline-none sm:px-8"
    >
      {children}
    </main>
  );
}
