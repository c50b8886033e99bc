import type { Metadata } from "next";
import { demoKeyOf } from "#app/demo-key";
import { PageMain } from "#components/shell/page-main";
import { Starting } from "#components/site/starting";
import { StatusView } from "#components/status/status-view";
import { PageHead } from "#components/ui/card";
import { runningPortal } from "#lib/portal/runtime";

const LEAD = "Market hours and state of every instrument, and service health over the last 24 hours.";

export const metadata: Metadata = { title: "Status", description: LEAD };

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
          rows={await parts.reports.board()}
          demoKey={demoKeyOf(parts)}
        />
      )}
    </PageMain>
  );
}
