import { notFound } from "next/navigation";
import type { PortalUser } from "#lib/contract/portal";
import { requireUser } from "../session";

/** The operator who is signed in; for other users there is no such page, and strangers are led to sign in first. */
export async function requireOperator(path: string): Promise<PortalUser> {
  const user = await requireUser(path);
  if (!user.operator) notFound();
  return user;
}
