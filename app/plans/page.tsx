import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { signedInUser } from "#app/session";
import { PlansList } from "#components/plans/plans-list";
import { PageMain } from "#components/shell/page-main";
import { PageHead } from "#components/ui/card";
import { publicPlans } from "#server/pages/public-plans";
import { runningPortal } from "#server/pages/runtime";
import { signUpMode } from "#server/pages/sign-up-rules";

const LEAD = "What each plan includes. Limits are shared by all keys of an account.";

export const metadata: Metadata = { title: "Plans", description: LEAD };

/** Shows the plans as they are now: never prerendered. */
export const dynamic = "force-dynamic";

/** The plans that operators marked as public. */
export default async function PlansPage() {
  const running = runningPortal();
  const plans = running && (await publicPlans(running));
  if (plans === undefined) notFound();
  return (
    <PageMain>
      <PageHead title="Plans">{LEAD}</PageHead>
      <PlansList plans={plans} signUp={signUpMode() !== "closed" && (await signedInUser()) === undefined} />
    </PageMain>
  );
}
