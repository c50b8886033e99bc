import {
  InvitationForm,
  InvitedSignUpForm,
  InviteForm,
  OrganisationForm,
  RemoveMemberForm,
  RoleForm,
  SwitchForm,
} from "#lib/contract/organisation";
import { changedBy } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import { ownCookie } from "#server/pages/sign-in/cookies";
import { keepEntry } from "#server/pages/sign-in/signed-cookies";
import { askForLive } from "#server/store/access/accounts";
import { unverified } from "#server/store/access/key-owner";
import { acceptInvitation, invite, readInvitation, signUpInvited, withdrawInvitation } from "#server/store/users/invitations";
import { changeOrganisation, changeRole, readOrganisation, removeMember, switchOrganisation } from "#server/store/users/members";

export const organisationRoutes = [
  /** The organisation that the reader works in, with its members. */
  portalRoute("GET /organisation", { user: "view" }, ({ user, running }) => readOrganisation(running.users, user)),

  /** Renames it, or changes whether its members need a second factor, and which alerts are sent. */
  portalRoute("PATCH /organisation", { input: OrganisationForm, user: "manage", proof: true }, async (call) => {
    await changeOrganisation(call.running.users, call.user, call.input, call.visitor);
    return {};
  }),

  /** Asks the operators for live access, of which ALERT_EMAIL hears; asking again changes nothing. */
  portalRoute("POST /organisation/live-access", { user: "build" }, async (call) => {
    const { user, running } = call;
    if (!user.emailVerified) throw unverified(user);
    await askForLive(running, user.accountId, changedBy(call));
    return {};
  }),

  /** Invites an address; only this answer contains the link, unless it is mailed. */
  portalRoute("POST /organisation/invitations", { input: InviteForm, user: "manage", proof: true }, (call) =>
    invite(call.running.users, call.user.accountId, call.input, changedBy(call), call.visitor),
  ),

  /** Withdraws an invitation. */
  portalRoute("DELETE /organisation/invitations/[id]", { user: "manage" }, async (call) => {
    await withdrawInvitation(call.running.users, call.user.accountId, call.params.id, changedBy(call));
    return {};
  }),

  /** Gives a member another role. */
  portalRoute("PATCH /organisation/members/[id]", { input: RoleForm, user: "manage", proof: true }, async (call) => {
    await changeRole(call.running.users, call.user, call.params.id, call.input, call.visitor);
    return {};
  }),

  /** Removes a member. */
  portalRoute("DELETE /organisation/members/[id]", { input: RemoveMemberForm, user: "manage", proof: true }, async (call) => {
    const { revoke_keys: revokeKeys } = call.input;
    await removeMember(call.running.users, call.user, call.params.id, { revokeKeys }, call.visitor);
    return {};
  }),

  /** The reader leaves the organisation that they work in. */
  portalRoute("POST /organisation/leave", { user: "self" }, async ({ user, running, visitor }) => {
    await removeMember(running.users, user, user.id, { revokeKeys: false }, visitor);
    return {};
  }),

  /** The organisations of the reader. */
  portalRoute("GET /organisations", { user: "self" }, ({ user }) => ({
    items: user.organisations,
  })),

  /** Works in another of them, in all browsers of the reader. */
  portalRoute("POST /organisations/current", { input: SwitchForm, user: "self" }, async ({ input, user, running }) => {
    await switchOrganisation(running.users, user, input.id);
    return {};
  }),

  /** What the link of an invitation leads to. */
  portalRoute("POST /invitations/read", { input: InvitationForm, user: "none" }, ({ input, running }) =>
    readInvitation(running.users, input.token),
  ),

  /** Accepts an invitation. */
  portalRoute("POST /invitations/accept", { input: InvitationForm, user: "self" }, async ({ input, user, running, visitor }) => {
    await acceptInvitation(running.users, user, input.token, visitor);
    return {};
  }),

  /** Creates the account of somebody who was invited. */
  portalRoute("POST /invitations/sign-up", { input: InvitedSignUpForm, user: "none" }, async (call) => {
    const { input, running, visitor, keepCookie } = call;
    const { entry, browserSecret } = await signUpInvited(running.users, input, visitor);
    if (browserSecret !== undefined) keepCookie(ownCookie(running.env, "link", browserSecret));
    keepEntry(running, entry, keepCookie);
    return { entry: entry.kind };
  }),
];
