import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { MarketsView } from "#components/markets/markets-view";
import { VenueNotice } from "#components/markets/venue-notice";
import { VenueSwitch } from "#components/markets/venue-switch";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { PageHead } from "#components/ui/card";
import { marketPath } from "#lib/contract/markets";
import { runningPortal } from "#lib/portal/runtime";
import { shownMarkets } from "#lib/portal/shown-markets";
import { asksForLive, credentialFor, lacksFeed, marketReader } from "./reader";

const LEAD = "Bid and ask of every forex pair and metal as they stream, with spread, change of the day and market hours.";
const SYNTHETIC = "Prices of the sandbox are synthetic: made by a formula, around the clock.";

export const metadata: Metadata = { title: "Markets", description: LEAD, alternates: { canonical: "/markets" } };

/** Shows current prices: never prerendered. */
export const dynamic = "force-dynamic";

/** All markets of the sandbox, or of the live venue for a reader who may see it. */
export default async function MarketsPage(search: PageSearch) {
  const parts = runningPortal();
  if (parts === undefined)
    return (
      <PageMain>
        <PageHead title="Markets">{LEAD}</PageHead>
        <Starting />
      </PageMain>
    );
  const shown = await shownMarkets(parts, await marketReader(parts, await asksForLive(search)));
  const { venue, report: rows, liveKey, refused } = shown;
  const lead =
    venue === "sandbox" ? SYNTHETIC : `Read with your key “${liveKey?.name}”: what this page reads counts for its limits.`;
  return (
    <PageMain>
      <PageHead title="Markets" action={liveKey === undefined ? null : <VenueSwitch venue={venue} pathOf={marketPath} />}>
        {LEAD} {lead}
      </PageHead>
      <VenueNotice refused={refused} pathOf={marketPath} noFeed={lacksFeed(parts, shown)} />
      <MarketsView key={venue} {...{ venue, rows }} credential={credentialFor(parts, shown)} />
    </PageMain>
  );
}
