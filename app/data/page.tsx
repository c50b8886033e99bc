import type { Metadata } from "next";
import { askedVenue, coverageFacts, marketReader } from "#app/markets/reader";
import type { PageSearch } from "#app/page-search";
import { CoverageList } from "#components/coverage/coverage-list";
import { VenueNotice } from "#components/markets/venue-notice";
import { VenueSwitch } from "#components/markets/venue-switch";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { PageHead } from "#components/ui/card";
import { COVERAGE_DOCUMENT_PATH, COVERAGE_PATH, coveragePath } from "#lib/contract/coverage";
import { LIVE_QUERY } from "#lib/contract/markets";
import { runningPortal } from "#server/pages/runtime";
import { shownCoverage } from "#server/pages/shown-markets";

const LEAD = "How far back the M1 klines of each instrument go, and how complete they are.";

export const metadata: Metadata = { title: "Data", description: LEAD, alternates: { canonical: COVERAGE_PATH } };

/** Shows what is stored now: never prerendered. */
export const dynamic = "force-dynamic";

/** The coverage of all instruments of the sandbox, or of the live venue for a reader who may see it, with or without a provider. */
export default async function DataPage(search: PageSearch) {
  const parts = runningPortal();
  if (parts === undefined)
    return (
      <PageMain>
        <PageHead title="Data">{LEAD}</PageHead>
        <Starting />
      </PageMain>
    );
  const shown = await shownCoverage(parts, await marketReader(parts, await askedVenue(search)));
  const { venue, report } = shown;
  const { notice, mayChoose } = coverageFacts(parts, shown);
  return (
    <PageMain>
      <PageHead title="Data" action={mayChoose ? <VenueSwitch venue={venue} pathOf={coveragePath} /> : null}>
        {LEAD}
      </PageHead>
      <VenueNotice {...notice} pathOf={coveragePath} />
      <CoverageList key={venue} venue={venue} items={report.items} />
      <p className="mt-3 max-w-prose text-ink-faint text-xs leading-5">
        Complete is the share of the minutes in which the market was open, from the first kline to the last, that have one. Klines
        in closed hours count for missing ones of the same month here; the page of an instrument tells them apart. Days and years
        are UTC. The same as{" "}
        <a href={`${COVERAGE_DOCUMENT_PATH}${venue === "live" ? LIVE_QUERY : ""}`} className="text-accent underline">
          JSON
        </a>
        .
      </p>
    </PageMain>
  );
}
