import type { Metadata } from "next";
import { toOwnKey } from "#app/own-key";
import { requireUser } from "#app/session";
import { LinksView } from "#components/links/links-view";
import { listValidKeys } from "#lib/access/keys";
import { portal } from "#lib/portal/runtime";
import { linkOperations } from "../../../components/playground/operations";

export const metadata: Metadata = { title: "Links" };

/** The account's links: addresses that answer one call each. */
export default async function LinksPage() {
  const { accountId } = await requireUser("/dashboard/links");
  const keys = (await listValidKeys(portal(), accountId)).map(toOwnKey).filter(({ scopes }) => scopes.includes("market:read"));
  return <LinksView operations={linkOperations()} keys={keys} />;
}
