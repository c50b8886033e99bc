import type { Metadata } from "next";
import { toOwnKey } from "#app/own-key";
import { requireUser } from "#app/session";
import { LinksView } from "#components/links/links-view";
import { may } from "#lib/contract/roles";
import { listValidKeys } from "#server/pages/own-keys";
import { portal } from "#server/pages/runtime";
import { linkOperations } from "../../../components/playground/operations";

export const metadata: Metadata = { title: "Links" };

/** The account's links: addresses that answer one call each. */
export default async function LinksPage() {
  const { accountId, role } = await requireUser("/dashboard/links");
  const keys = (await listValidKeys(portal(), accountId)).map(toOwnKey).filter(({ scopes }) => scopes.includes("market:read"));
  return <LinksView operations={linkOperations()} keys={keys} mayBuild={may(role, "build")} />;
}
