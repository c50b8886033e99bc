import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { AccountView } from "#components/account/account-view";
import { PASSWORD_MIN_CHARACTERS } from "#lib/contract/portal";
import { runtime } from "#lib/runtime";
import { planInForce } from "./plan-in-force";

export const metadata: Metadata = { title: "Account" };

/** Profile, password, e-mail, browsers, plan, changes, and the end of it all. */
export default async function AccountPage() {
  const user = await requireUser("/dashboard/account");
  const plan = await planInForce(runtime(), user.accountId);
  return <AccountView user={user} plan={plan} passwordMinCharacters={PASSWORD_MIN_CHARACTERS} />;
}
