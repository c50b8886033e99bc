import type { Visitor } from "#lib/access/users/context";
import { notify } from "#lib/access/users/notices";
import type { PortalUser } from "#lib/contract/portal";
import { type KeyChangeWord, keyMail } from "#lib/mail/security-messages";
import type { PortalRuntime } from "./runtime";

/** Emails users that one of their keys was created, rotated or revoked. */
export function notifyOfKey(
  { running, user, visitor }: { readonly running: PortalRuntime; readonly user: PortalUser; readonly visitor: Visitor },
  keyName: string,
  made: KeyChangeWord,
): Promise<void> {
  return notify(running.users, user, "key", visitor, (to, occasion) => keyMail(to, keyName, made, occasion));
}
