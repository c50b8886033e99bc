import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { KeysView } from "#components/keys/keys-view";
import { toPortalKey } from "#lib/access/key-json";
import { listKeys } from "#lib/access/keys";
import { portal } from "#lib/portal/runtime";

export const metadata: Metadata = { title: "Keys" };

/** Create, list, change, rotate and revoke keys. */
export default async function KeysPage() {
  const { accountId } = await requireUser("/dashboard/keys");
  const keys = await listKeys(portal(), { accountId });
  return <KeysView initial={{ items: keys.map(toPortalKey) }} />;
}
