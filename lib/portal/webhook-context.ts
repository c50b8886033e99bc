import { createSealer } from "#lib/access/sealer";
import { WEBHOOK_SECRETS, type WebhookContext } from "#lib/webhooks/webhooks";
import type { PortalRuntime } from "./runtime";

/** What a call changes webhooks with. */
export function webhookContext({ db, clock, env, secrets }: PortalRuntime): WebhookContext {
  const { WEBHOOK_ALLOWED_HOSTS: allowedHosts, WEBHOOK_PORTS: ports } = env;
  return { db, clock, sealer: createSealer(secrets.nextAuth, WEBHOOK_SECRETS), allowedHosts, ports };
}
