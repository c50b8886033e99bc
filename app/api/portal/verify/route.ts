import { verifyEmail } from "#lib/access/users/email";
import { VerifyForm } from "#lib/contract/portal";
import { ownCookie } from "#lib/portal/cookies";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { stepCookie } from "#lib/portal/sign-in-step";

/** Follows the link of an email: it verifies an address, or is one of the two that change it. */
export const POST = portalRoute({ input: VerifyForm, user: "none" }, async ({ input, user, running, visitor, keepCookie }) => {
  const { entry, ...verified } = await verifyEmail(running.users, input, user, visitor);
  const { kind, ticket, step } = entry;
  if (ticket !== undefined) keepCookie(ownCookie(running.env, "entry", ticket));
  if (step !== undefined) keepCookie(stepCookie(running, step));
  return { ...verified, entry: kind };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
