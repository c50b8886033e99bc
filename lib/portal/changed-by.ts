import type { ChangedBy } from "#lib/access/audit";
import type { PortalUser } from "#lib/contract/portal";

/** A user who changes their own account. Resources of other accounts do not exist for them. */
export function changedBy({ user, address }: { readonly user: PortalUser; readonly address: string }): Required<ChangedBy> {
  return { actor: { id: user.id, name: user.email }, accountId: user.accountId, address };
}

/** An operator, who may change any account. */
export function operatorOf({ user, address }: { readonly user: PortalUser; readonly address: string }): ChangedBy {
  return { actor: { id: user.id, name: user.email }, address };
}
