import type { Metadata } from "next";
import { requireUser } from "#app/session";
import { WebhooksView } from "#components/webhooks/webhooks-view";
import { may } from "#lib/contract/roles";
import { WEBHOOKS_PATH } from "#lib/contract/uptime";

export const metadata: Metadata = { title: "Webhooks" };

/** The account's webhooks for incidents. */
export default async function WebhooksPage() {
  const { role } = await requireUser(WEBHOOKS_PATH);
  return <WebhooksView mayBuild={may(role, "build")} />;
}
