import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { AccountView } from "#components/account/account-view";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { portal } from "#server/pages/runtime";

export const metadata: Metadata = { title: "Account" };

/** Plan, profile, email, password, sessions, audit log, and deleting the account. */
export default async function AccountPage() {
  const user = await requireUser("/dashboard/account");
  const { plan } = await portal().db.prisma.account.findUniqueOrThrow({
    where: { id: user.accountId },
    include: { plan: true },
  });
  return <AccountView user={user} plan={plan} passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />;
}
