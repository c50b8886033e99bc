import { isFault } from "#lib/fault";
import type { MailMessage } from "#lib/mail/messages";
import type { Occasion } from "#lib/mail/security-messages";
import type { UserContext, Visitor } from "./context";

/** What an account's owner is notified of; each kind has its own limit, so that one cannot hide another. */
type Notice = "sign_in" | "key" | "link" | "provider";

/** Whom to notify. */
interface Owner {
  readonly id: string;
  readonly email: string;
  /** An address that nobody has verified gets nothing. */
  readonly emailVerified: boolean;
}

/** When, where and with which browser a request is made. */
export function occasionOf({ clock }: Pick<UserContext, "clock">, { address, userAgent, base }: Visitor): Occasion {
  return { atMs: clock.now(), address, userAgent, base };
}

/** The verified addresses of an account's owners. */
export async function ownerAddresses({ db }: Pick<UserContext, "db">, account: string): Promise<string[]> {
  const memberships = { some: { role: "owner", account: { name: account } } };
  const users = await db.prisma.user.findMany({
    where: { memberships, emailVerifiedAt: { not: null } },
    select: { email: true },
    orderBy: { email: "asc" },
  });
  return users.map(({ email }) => email);
}

/** Emails the owner of an account what happened to it, unless there were many such emails lately. The audit log has all. */
export async function notify(
  context: UserContext,
  { id, email, emailVerified }: Owner,
  notice: Notice,
  visitor: Visitor,
  compose: (to: string, occasion: Occasion) => MailMessage,
): Promise<void> {
  if (!emailVerified) return;
  try {
    await context.attempts.take("mail_notice", `${notice} ${id}`);
  } catch (error) {
    if (isFault(error)) return;
    throw error;
  }
  context.send(compose(email, occasionOf(context, visitor)));
}
