import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { OverviewView } from "#components/overview/overview-view";
import { overview } from "#lib/access/usage/overview";
import { portal } from "#lib/portal/runtime";

export const metadata: Metadata = { title: "Overview" };

/** The page after signing in. */
export default async function OverviewPage() {
  const { name, accountId } = await requireUser("/dashboard");
  return <OverviewView name={name} initial={await overview(portal(), accountId)} />;
}
