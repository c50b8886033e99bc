import type { LinkEntry } from "#lib/contract/mail";
import type { PortalUser } from "#lib/contract/portal";
import { isFault } from "#lib/fault";
import type { UserContext } from "./context";
import { issueToken, redeemToken } from "./one-time-tokens";
import { type SignInStep, secondStepOf } from "./second-factor";

/** How the browser that opened a verification link goes on. */
export interface Entry {
  readonly kind: LinkEntry;
  /** With "ready": what signs it in, once. */
  readonly ticket?: string;
  /** With "second_factor": what lets it enter the code. */
  readonly step?: SignInStep;
}

/**
 * Signs in a browser that has just verified a user's address: it sent the link from the mailbox, and the secret or the password
 * of the sign-up. The second factor is required as it is after a password. If another user is signed in there, they stay signed
 * in.
 */
export async function entryOf(
  context: UserContext,
  { userId, email }: { readonly userId: string; readonly email: string },
  reader: PortalUser | undefined,
): Promise<Entry> {
  if (reader !== undefined) return { kind: reader.id === userId ? "signed_in" : "none" };
  const step = await secondStepOf(context, userId);
  if (step !== undefined) return { kind: "second_factor", step };
  const { db, clock } = context;
  return { kind: "ready", ticket: await issueToken(db.prisma, clock, { purpose: "entry", userId, email }) };
}

/** The user whom a ticket signs in; undefined for one that was used, is too old, or was voided by a new password. */
export async function redeemEntry({ db, clock }: UserContext, ticket: string): Promise<string | undefined> {
  try {
    return (await redeemToken(db.prisma, clock, ticket, ["entry"])).userId;
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}
