import { signOutEverywhere } from "#lib/access/users/account";
import { listSessions } from "#lib/access/users/sessions";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The browsers in which the user is signed in. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  items: await listSessions(running.users, user),
}));

/** Signs every browser out, including this one. */
export const DELETE = portalRoute({ user: "required" }, async ({ user, running, visitor }) => {
  await signOutEverywhere(running.users, user, visitor);
  return {};
});

export const { OPTIONS, PATCH, POST, PUT } = otherMethods({ GET, DELETE });
