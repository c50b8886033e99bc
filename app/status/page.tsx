import type { Metadata } from "next";
import { pageCredentialOf } from "#app/demo-key";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { StatusView } from "#components/status/status-view";
import { PageHead } from "#components/ui/card";
import { STATUS_FEED_PATH } from "#lib/contract/uptime";
import { runningPortal } from "#server/pages/runtime";

const LEAD = "The health of the service, its uptime and incidents, and the state of every market.";

export const metadata: Metadata = {
  title: "Status",
  description: LEAD,
  alternates: { types: { "application/atom+xml": STATUS_FEED_PATH } },
};

/** Shows the current state: never prerendered. */
export const dynamic = "force-dynamic";

/** The state of the service, and of every market in both venues. */
export default async function StatusPage() {
  const parts = runningPortal();
  return (
    <PageMain>
      {parts === undefined ? (
        <>
          <PageHead title="Status">{LEAD}</PageHead>
          <Starting />
        </>
      ) : (
        <StatusView
          lead={LEAD}
          first={await parts.reports.status()}
          uptime={await parts.uptime().catch(() => null)}
          rows={await parts.reports.board()}
          credential={pageCredentialOf(parts)}
        />
      )}
    </PageMain>
  );
}
