import { headers } from "next/headers";
import { forbidden, notFound } from "next/navigation";
import type { PortalUser } from "#lib/contract/portal";
import { noteDenial } from "#server/pages/denial";
import { portal } from "#server/pages/runtime";
import { ADDRESS_HEADER } from "#server/pages/visitor";
import { requireSignIn } from "../session";

/**
 * The signed-in operator; for other users the page does not exist, signed-out readers are sent to the sign-in page, and
 * operators without a second factor are refused.
 */
export async function requireOperator(path: string): Promise<PortalUser> {
  const user = await requireSignIn(path);
  if (user.operator && user.secondFactor) return user;
  noteDenial(portal(), user, path, (await headers()).get(ADDRESS_HEADER) ?? "");
  return user.operator ? forbidden() : notFound();
}
