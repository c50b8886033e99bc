import { brandOf } from "#lib/brand";
import { type MailMessage, underBrand } from "#lib/mail/messages";
import type { Occasion } from "#lib/mail/security-messages";
import { smtpDelivery } from "#server/outgoing/mail";
import { reasonOf } from "#server/store/database/db";
import type { CommandContext } from "./run-command";

/**
 * Emails somebody what a command did to their account, as the portal does for the same change. The change is made already, so
 * that an email that cannot be sent is only reported.
 */
export async function notify(
  { readEnv, clock, errors }: Pick<CommandContext, "readEnv" | "clock" | "errors">,
  to: string | undefined,
  compose: (to: string, occasion: Occasion) => MailMessage,
): Promise<void> {
  if (to === undefined) return;
  const env = readEnv();
  const { SMTP_URL, SMTP_CA_FILE: caFile, MAIL_FROM, PUBLIC_URL, PORT } = env;
  const base = PUBLIC_URL ?? `http://localhost:${PORT}`;
  const message = underBrand(compose(to, { atMs: clock.now(), address: null, userAgent: "", base }), brandOf(env));
  const report = (reason: string) => errors.write(`No email "${message.subject}" was sent to ${to}: ${reason}\n`);
  if (SMTP_URL === undefined) return void report("SMTP_URL is not set.");
  await smtpDelivery({ url: SMTP_URL, caFile }, MAIL_FROM)(message).catch((error: unknown) => report(reasonOf(error)));
}
