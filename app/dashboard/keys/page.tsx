import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { requireUser } from "#app/session";
import { KeysView } from "#components/keys/keys-view";
import { may } from "#lib/contract/roles";
import { shownKeys } from "#server/pages/own-keys";
import { portal } from "#server/pages/runtime";

export const metadata: Metadata = { title: "Keys" };

/** Create, list, change, rotate and revoke keys; `?new=1` opens the form for a new one. */
export default async function KeysPage({ searchParams }: PageSearch) {
  const { new: asked } = await searchParams;
  const { accountId, role } = await requireUser(asked === undefined ? "/dashboard/keys" : "/dashboard/keys?new=1");
  const { env } = portal();
  return (
    <KeysView
      initial={{ items: await shownKeys(portal(), accountId) }}
      mayBuild={may(role, "build")}
      creating={asked !== undefined}
      liveFeed={!env.LIVE_FEED.includes("none")}
    />
  );
}
