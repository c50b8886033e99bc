import { z } from "zod";
import { ALERT_SWITCHES, type AlertSwitch } from "./alerts";
import { Email, NewPassword, UserName } from "./portal";
import { PLAIN_TEXT, PLAIN_TEXT_WORDS } from "./primitives";
import { ROLES, type Role } from "./roles";

/** Requests and responses about organisations: their members, and how somebody becomes one. Times are ISO 8601. */

/** Maximum members of an organisation, and invitations to it that wait. */
export const MEMBERS_MAX_COUNT = 500;
export const INVITATIONS_MAX_COUNT = 100;
/** Maximum organisations of a user. */
export const MEMBERSHIPS_MAX_COUNT = 50;
const ORGANISATION_NAME_MAX_CHARACTERS = 120;

const OrganisationName = z
  .string()
  .trim()
  .min(1, "Enter a name.")
  .max(ORGANISATION_NAME_MAX_CHARACTERS, `Use at most ${ORGANISATION_NAME_MAX_CHARACTERS} characters.`)
  .regex(PLAIN_TEXT, PLAIN_TEXT_WORDS);

export const RoleForm = z.strictObject({ role: z.enum(ROLES) });
/** Changes of an organisation by an owner; absent fields stay unchanged. */
export const OrganisationForm = z.strictObject({
  name: OrganisationName.optional(),
  require_second_factor: z.boolean().optional(),
  /** Alerts that are not sent, for example `quota.email`. */
  alerts_off: z.array(z.enum(ALERT_SWITCHES)).max(ALERT_SWITCHES.length).optional(),
});
/** `mail`: the link is sent to the address. Otherwise whoever invites gets it, to pass it on. */
export const InviteForm = z.strictObject({ email: Email, role: z.enum(ROLES), mail: z.boolean() });
/** Removes a member; `revoke_keys` also revokes the keys that this member made. */
export const RemoveMemberForm = z.strictObject({ revoke_keys: z.boolean() });
export const SwitchForm = z.strictObject({ id: z.uuid() });
export const InvitationForm = z.strictObject({ token: z.string().min(1).max(100) });
/** Creates the account of somebody who was invited. */
export const InvitedSignUpForm = InvitationForm.extend({
  password: NewPassword,
  name: UserName.optional(),
  terms: z.boolean().optional(),
});
/** A customer whom an operator creates. */
export const CustomerForm = z.strictObject({ name: OrganisationName, plan: z.string().max(40) });

/** A member as the others see it. */
export interface PortalMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly second_factor: boolean;
  readonly joined_at: string;
  /** Keys that work, made by this member. */
  readonly active_keys: number;
  /** The version of the terms that they accepted, and when; null where there were none. Only operators see it. */
  readonly terms?: { readonly version: string; readonly at: string } | null;
}

/** An invitation that was not accepted yet. */
export interface PortalInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly mailed: boolean;
  readonly inviter: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The organisation that the reader works in. */
export interface PortalOrganisation {
  readonly id: string;
  readonly name: string;
  readonly require_second_factor: boolean;
  readonly alerts_off: readonly AlertSwitch[];
  /** Owners first, then by address. */
  readonly members: readonly PortalMember[];
  /** Newest first; empty for members who may not invite. */
  readonly invitations: readonly PortalInvitation[];
}

/** What an invitation's link leads to. */
export interface InvitationOffer {
  readonly organisation: string;
  readonly email: string;
  readonly role: Role;
  /** Null where the operator invites on the command line. */
  readonly inviter: string | null;
  readonly expires_at: string;
  /** Whether the address has an account, which then accepts; otherwise one is created. */
  readonly has_account: boolean;
}
