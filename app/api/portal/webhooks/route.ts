import { WebhookForm } from "#lib/contract/webhooks";
import { changedBy } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { webhookContext } from "#lib/portal/webhook-context";
import { addWebhook, listWebhooks } from "#lib/webhooks/webhooks";

/** The webhooks of the reader's account, with their newest deliveries. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => ({
  items: await listWebhooks(running, user.accountId),
}));

/** Adds a webhook; only this answer contains its secret. */
export const POST = portalRoute({ input: WebhookForm, user: "required", proof: true }, async (call) => {
  await call.running.users.attempts.take("webhook_add", call.user.accountId);
  return addWebhook(webhookContext(call.running), call.input, changedBy(call));
});

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
