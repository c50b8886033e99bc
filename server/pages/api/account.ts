import { DeleteAccountForm, EmailForm, MailLinkForm, PasswordForm, type PortalUser, ProfileForm } from "#lib/contract/portal";
import { may } from "#lib/contract/roles";
import { csvResponse, portalRoute } from "#server/pages/route";
import { ownCookie } from "#server/pages/sign-in/cookies";
import { knownBrowserCookie } from "#server/pages/sign-in/signed-cookies";
import { auditCsv, listAudit, MemberAuditQuery } from "#server/store/access/audit";
import { changeName, deleteAccount, signOutEverywhere } from "#server/store/users/account";
import { cancelEmailChange, pendingEmailChange, requestEmailChange, withdrawEmailChange } from "#server/store/users/email";
import { listIdentities, unlinkIdentity } from "#server/store/users/identities";
import { changePassword } from "#server/store/users/password";
import { listSessions, revokeSession } from "#server/store/users/sessions";

const mayAudit = ({ role, lacksFactor }: PortalUser) => may(role, "manage") && !lacksFactor;

export const accountRoutes = [
  /** Deletes the user with account and keys. */
  portalRoute(
    "DELETE /account",
    { input: DeleteAccountForm, user: "self", proof: true },
    async ({ input, user, running, visitor }) => {
      await deleteAccount(running.users, user, input, visitor);
      return {};
    },
  ),

  /** Changes the user's name. */
  portalRoute("PATCH /profile", { input: ProfileForm, user: "self" }, async ({ input, user, running, visitor }) => {
    await changeName(running.users, user, input.name, visitor);
    return {};
  }),

  /** Changes the password; other browsers are signed out. */
  portalRoute("POST /password", { input: PasswordForm, user: "self" }, async (call) => {
    const { input, user, running, visitor, keepCookie } = call;
    await changePassword(running.users, user, input, visitor);
    keepCookie(knownBrowserCookie(running, user.id));
    return {};
  }),

  /** Mails a link to the new address; opening it changes the address. */
  portalRoute("POST /email", { input: EmailForm, user: "self", proof: true }, async (call) => {
    const { input, user, running, visitor } = call;
    call.keepCookie(ownCookie(running.env, "link", await requestEmailChange(running.users, user, input, visitor)));
    return {};
  }),

  /** The requested change of address, if there is one. */
  portalRoute("GET /email", { user: "self" }, async ({ user, running }) => ({
    pending: await pendingEmailChange(running.users, user.id),
  })),

  /** Withdraws it. */
  portalRoute("DELETE /email", { user: "self" }, async ({ user, running, visitor }) => {
    await withdrawEmailChange(running.users, user, visitor);
    return {};
  }),

  /** Cancels a change of email with the link that the old address got. */
  portalRoute("POST /email/cancel", { input: MailLinkForm, user: "none" }, async ({ input, running, visitor }) => ({
    email: await cancelEmailChange(running.users, input.token, visitor),
  })),

  /** The providers with which the reader can sign in. */
  portalRoute("GET /identities", { user: "self" }, async ({ user, running }) => ({
    items: await listIdentities(running, user.id),
  })),

  /** Unlinks one provider. */
  portalRoute("DELETE /identities/[id]", { user: "self", proof: true }, async ({ user, params, running, visitor }) => {
    await unlinkIdentity(running.users, user, params.id, visitor);
    return {};
  }),

  /** The browsers in which the user is signed in. */
  portalRoute("GET /sessions", { user: "self" }, async ({ user, running }) => ({
    items: await listSessions(running.users, user),
  })),

  /** Signs every browser out, including this one. */
  portalRoute("DELETE /sessions", { user: "self" }, async ({ user, running, visitor }) => {
    await signOutEverywhere(running.users, user, visitor);
    return {};
  }),

  /** Signs one browser out. */
  portalRoute("DELETE /sessions/[id]", { user: "self" }, async ({ user, params, running, visitor }) => {
    await revokeSession(running.users, user, params.id, visitor);
    return {};
  }),

  /** The changes to the organisation of an owner, of one member if asked; what others did there themselves. */
  portalRoute("GET /audit", { input: MemberAuditQuery, user: "self" }, ({ input, user, running }) => {
    const actorId = mayAudit(user) ? input.member : user.id;
    return listAudit(running.db, { before: input.before, actorId, accountId: user.accountId });
  }),

  /** The same as CSV. */
  portalRoute("GET /audit/export", { input: MemberAuditQuery, user: "manage" }, async ({ input, user, running }) =>
    csvResponse(await auditCsv(running.db, user.accountId, input.member), "audit"),
  ),
];
