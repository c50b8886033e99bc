import type { ReactNode } from "react";
import { signedInUser } from "#app/session";
import { SignedInArea } from "#components/shell/signed-in-area";
import { portal } from "#server/pages/runtime";
import { signInChoices } from "#server/pages/sign-in/providers";

/**
 * The pages for operators, with their navigation. It checks no access: each page does so itself, with its own way back after
 * signing in, which a redirect here would override.
 */
export default async function AdminLayout({ children }: { children: ReactNode }) {
  const user = await signedInUser();
  if (!user?.operator) return children;
  return (
    <SignedInArea area="Operators" user={user} providers={signInChoices(portal().env)}>
      {children}
    </SignedInArea>
  );
}
