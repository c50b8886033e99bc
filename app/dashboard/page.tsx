import type { Metadata } from "next";
import { demoKeyOf } from "#app/demo-key";
import { requireUser } from "#app/session";
import { LiveBoard } from "#components/board/board";
import { OverviewView } from "#components/overview/overview-view";
import { overview } from "#lib/access/usage/overview";
import { portal } from "#lib/portal/runtime";

export const metadata: Metadata = { title: "Overview" };

/** Rows of the board; the home page shows all. */
const BOARD_ROWS_COUNT = 5;

/** The page after signing in. */
export default async function OverviewPage() {
  const { name, accountId } = await requireUser("/dashboard");
  const parts = portal();
  const [initial, rows] = await Promise.all([overview(parts, accountId), parts.reports.board()]);
  return (
    <OverviewView
      name={name}
      initial={initial}
      openedMs={parts.clock.now()}
      board={<LiveBoard rows={rows.slice(0, BOARD_ROWS_COUNT)} caption="Latest sandbox prices" demoKey={demoKeyOf(parts)} />}
    />
  );
}
