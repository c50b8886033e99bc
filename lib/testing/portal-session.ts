import type { Database } from "#lib/db";
import { DAY_MS } from "#lib/units";

/** Creates a user with a verified address and an open portal session, as signing in does; returns the session's id. */
export async function openPortalSession({ prisma }: Pick<Database, "prisma">, accountId: string, nowMs: number): Promise<string> {
  const email = `${accountId}@example.com`;
  const user = await prisma.user.upsert({
    where: { accountId },
    create: { accountId, email, emailVerifiedAt: new Date(nowMs) },
    update: {},
  });
  const data = { userId: user.id, provedAt: new Date(nowMs), expiresAt: new Date(nowMs + DAY_MS) };
  const { id } = await prisma.portalSession.create({ data });
  return id;
}
