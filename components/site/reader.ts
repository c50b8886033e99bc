import type { PortalUser } from "#lib/contract/portal";

/** The signed-in reader, for the header. */
export type SiteReader = Pick<PortalUser, "email" | "operator" | "accountId" | "organisations">;
