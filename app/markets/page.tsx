import type { Metadata } from "next";
import type { PageSearch } from "#app/page-search";
import { MarketsView } from "#components/markets/markets-view";
import { VenueNotice } from "#components/markets/venue-notice";
import { VenueSwitch } from "#components/markets/venue-switch";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { PageHead } from "#components/ui/card";
import { marketPath } from "#lib/contract/markets";
import { runningPortal } from "#server/pages/runtime";
import { shownMarkets } from "#server/pages/shown-markets";
import { askedVenue, credentialFor, marketReader, venueFacts } from "./reader";

const LEAD = "Bid and ask of every forex pair and metal as they stream, with spread, day change and market hours.";

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
  const asked = await askedVenue(search);
  const shown = await shownMarkets(parts, await marketReader(parts, asked));
  const { venue, report: rows, liveKey } = shown;
  return (
    <PageMain>
      <PageHead title="Markets" action={liveKey === undefined ? null : <VenueSwitch venue={venue} pathOf={marketPath} />}>
        {LEAD}
      </PageHead>
      <VenueNotice {...venueFacts(parts, shown)} pathOf={marketPath} />
      <MarketsView key={venue} venue={venue} asked={asked} rows={rows} credential={credentialFor(parts, shown)} />
    </PageMain>
  );
}
