import { createSealer } from "#lib/access/sealer";
import { WebhookForm } from "#lib/contract/webhooks";
import { changedBy } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  resumeWebhook,
  testWebhook,
  WEBHOOK_SECRETS,
} from "#server/store/webhooks/webhooks";

export const webhookRoutes = [
  /** The webhooks of the reader's account, with their newest deliveries. */
  portalRoute("GET /webhooks", { user: "view" }, async ({ user, running }) => ({
    items: await listWebhooks(running, user.accountId),
  })),

  /** Adds a webhook; only this answer contains its secret. */
  portalRoute("POST /webhooks", { input: WebhookForm, user: "build", proof: true }, async (call) => {
    const { db, clock, env, secrets, users } = call.running;
    await users.attempts.take("webhook_add", call.user.accountId);
    const sealer = createSealer(secrets.nextAuth, WEBHOOK_SECRETS);
    const { WEBHOOK_ALLOWED_HOSTS: allowedHosts, WEBHOOK_PORTS: ports } = env;
    return addWebhook({ db, clock, sealer, allowedHosts, ports }, call.input, changedBy(call));
  }),

  /** Removes a webhook of the reader's account. */
  portalRoute("DELETE /webhooks/[id]", { user: "build" }, async (call) => {
    await removeWebhook(call.running, call.params.id, changedBy(call));
    return {};
  }),

  /** Takes a paused webhook of the reader's account into use again. */
  portalRoute("POST /webhooks/[id]/resume", { user: "build" }, async (call) => {
    await resumeWebhook(call.running, call.params.id, changedBy(call));
    return {};
  }),

  /** Sends a test event to a webhook of the reader's account. */
  portalRoute("POST /webhooks/[id]/test", { user: "build" }, async ({ user, params, running }) => {
    await running.users.attempts.take("webhook_test", user.accountId);
    await testWebhook(running, params.id, user.accountId);
    return {};
  }),
];
