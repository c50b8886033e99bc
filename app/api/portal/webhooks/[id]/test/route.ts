import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";
import { testWebhook } from "#lib/webhooks/webhooks";

/** Sends a test event to a webhook of the reader's account. */
export const POST = portalRoute({ user: "required" }, async ({ user, params, running }) => {
  await running.users.attempts.take("webhook_test", user.accountId);
  await testWebhook(running, params.id ?? "", user.accountId);
  return {};
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
