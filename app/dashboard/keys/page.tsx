import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { requireUser } from "#app/session";
import { KeysView } from "#components/keys/keys-view";
import { toPortalKey } from "#lib/access/key-json";
import { listKeys } from "#lib/access/keys";
import { mailDelivery } from "#lib/portal/mail-delivery";
import { portal } from "#lib/portal/runtime";

export const metadata: Metadata = { title: "Keys" };

/** Create, list, change, rotate and revoke keys; `?new=1` opens the form for a new one. */
export default async function KeysPage({ searchParams }: PageSearch) {
  const { new: asked } = await searchParams;
  const { accountId } = await requireUser(asked === undefined ? "/dashboard/keys" : "/dashboard/keys?new=1");
  const { env } = portal();
  const keys = await listKeys(portal(), { accountId });
  return (
    <KeysView
      initial={{ items: keys.map(toPortalKey) }}
      creating={asked !== undefined}
      delivery={mailDelivery(env)}
      liveFeed={!env.LIVE_FEED.includes("none")}
    />
  );
}
