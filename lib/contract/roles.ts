import { DAY_S } from "#lib/units";

/** What a member is in an organisation. */
export const ROLES = ["owner", "developer", "billing", "reader"] as const;
export type Role = (typeof ROLES)[number];

/**
 * What a member may do in the portal, by role. `view`: see keys, links, webhooks and usage; `logs`: see single requests, with
 * addresses of clients; `build`: make, change and use keys, links and webhooks; `manage`: members, settings, and the whole audit log.
 */
export const RIGHTS = {
  view: ["owner", "developer", "billing", "reader"],
  logs: ["owner", "developer", "reader"],
  build: ["owner", "developer"],
  manage: ["owner"],
} as const satisfies Readonly<Record<string, readonly Role[]>>;
export type Right = keyof typeof RIGHTS;

/** What each role is for, as pages and docs say it. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: "Everything, including members and settings",
  developer: "Makes and uses keys, links and webhooks, and sees usage and logs",
  billing: "Sees usage and the names of keys, but no single requests",
  reader: "Sees keys, usage and logs, and changes nothing",
};

/** True when a member with this role may do it. */
export function may(role: Role, right: Right): boolean {
  return RIGHTS[right].some((allowed) => allowed === role);
}

/** An organisation of the reader. */
export interface OwnOrganisation {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** How long an invitation can be accepted. Here, because browsers load this file without the schemas of forms. */
export const INVITATION_LIFETIME_S = 7 * DAY_S;
