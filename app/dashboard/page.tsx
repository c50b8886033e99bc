import type { Metadata } from "next";
import { credentialFor, marketReader, venueFacts } from "#app/markets/reader";
import { requireUser } from "#app/session";
import { LiveBoard } from "#components/board/board";
import { VenueNotice } from "#components/markets/venue-notice";
import { OverviewView } from "#components/overview/overview-view";
import { marketPath } from "#lib/contract/markets";
import { may } from "#lib/contract/roles";
import { overview } from "#server/pages/overview";
import { portal } from "#server/pages/runtime";
import { shownBoard } from "#server/pages/shown-markets";

export const metadata: Metadata = { title: "Overview" };

/** Rows of the board; the home page shows all. */
const BOARD_ROWS_COUNT = 5;

/** The page after signing in. */
export default async function OverviewPage() {
  const user = await requireUser("/dashboard");
  const parts = portal();
  const [initial, shown] = await Promise.all([overview(parts, user), shownBoard(parts, await marketReader(parts))]);
  const { venue, report: rows } = shown;
  return (
    <OverviewView
      name={user.name}
      initial={initial}
      firstSteps={may(user.role, "build") && !user.waiting}
      openedMs={parts.clock.now()}
      board={
        <>
          <VenueNotice {...venueFacts(parts, shown)} pathOf={marketPath} />
          <LiveBoard key={venue} venue={venue} rows={rows.slice(0, BOARD_ROWS_COUNT)} credential={credentialFor(parts, shown)} />
        </>
      }
    />
  );
}
