import type { Metadata } from "next";
import { demoKeyOf } from "#app/demo-key";
import { MarketsView } from "#components/markets/markets-view";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { PageHead } from "#components/ui/card";
import { runningPortal } from "#lib/portal/runtime";

const LEAD = "Live bid and ask of every forex pair and metal, with spread, change of the day and market hours.";

export const metadata: Metadata = { title: "Markets", description: LEAD, alternates: { canonical: "/markets" } };

/** Shows current prices: never prerendered. */
export const dynamic = "force-dynamic";

/** All markets of the sandbox. */
export default async function MarketsPage() {
  const parts = runningPortal();
  return (
    <PageMain>
      <PageHead title="Markets">{LEAD} Prices of the sandbox are synthetic: made by a formula, around the clock.</PageHead>
      {parts === undefined ? (
        <Starting />
      ) : (
        <MarketsView rows={await parts.reports.markets("sandbox")} demoKey={demoKeyOf(parts)} />
      )}
    </PageMain>
  );
}
