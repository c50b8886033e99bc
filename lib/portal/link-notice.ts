import type { Visitor } from "#lib/access/users/context";
import { notify } from "#lib/access/users/notices";
import type { PortalUser } from "#lib/contract/portal";
import { linkMail } from "#lib/mail/security-messages";
import type { PortalRuntime } from "./runtime";

/** Emails users that one of their links was created or revoked. */
export function notifyOfLink(
  { running, user, visitor }: { readonly running: PortalRuntime; readonly user: PortalUser; readonly visitor: Visitor },
  linkName: string,
  made: "created" | "revoked",
): Promise<void> {
  return notify(running.users, user, "link", visitor, (to, occasion) => linkMail(to, linkName, made, occasion));
}
