import type { MailDelivery } from "#lib/contract/mail";
import type { Env } from "#lib/env";

/** Where the emails of this installation go. */
export function mailDelivery({ SMTP_URL, NODE_ENV }: Pick<Env, "SMTP_URL" | "NODE_ENV">): MailDelivery {
  if (SMTP_URL !== undefined) return "server";
  return NODE_ENV === "production" ? "log" : "outbox";
}
