import type { ChangedBy } from "#lib/access/audit";
import type { PortalUser } from "#lib/contract/portal";

/** Who changes something of their own account: what belongs to another one does not exist for them. */
export function changedBy({ user, address }: { readonly user: PortalUser; readonly address: string }): Required<ChangedBy> {
  return { actor: { id: user.id, name: user.email }, accountId: user.accountId, address };
}

/** An operator who changes something of anybody's. */
export function operatorOf({ user, address }: { readonly user: PortalUser; readonly address: string }): ChangedBy {
  return { actor: { id: user.id, name: user.email }, address };
}
