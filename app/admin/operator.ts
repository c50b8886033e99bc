import { headers } from "next/headers";
import { notFound } from "next/navigation";
import type { PortalUser } from "#lib/contract/portal";
import { noteDenial } from "#lib/portal/denial";
import { portal } from "#lib/portal/runtime";
import { ADDRESS_HEADER } from "#lib/portal/visitor";
import { requireUser } from "../session";

/** The signed-in operator; for other users the page does not exist, and signed-out readers are sent to the sign-in page. */
export async function requireOperator(path: string): Promise<PortalUser> {
  const user = await requireUser(path);
  if (!user.operator) {
    noteDenial(portal(), user, path, (await headers()).get(ADDRESS_HEADER) ?? "");
    notFound();
  }
  return user;
}
