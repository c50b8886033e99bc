import type { Role } from "#lib/contract/roles";
import type { User } from "#lib/generated/prisma/client";
import { DAY_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";

interface MemberOptions {
  readonly email: string;
  readonly emailVerifiedAt?: Date | null;
  readonly role?: Role;
}

/** Creates a user who works in an account; by default its owner, with a verified address. */
export function createMember(
  { prisma }: Pick<Database, "prisma">,
  accountId: string,
  { email, emailVerifiedAt = new Date(0), role = "owner" }: MemberOptions,
): Promise<User> {
  return prisma.user.create({
    data: { accountId, email, emailVerifiedAt, memberships: { create: { accountId, role } } },
  });
}

/** Opens a portal session of an account's owner, as signing in does; returns the session's id. */
export async function openPortalSession(db: Pick<Database, "prisma">, accountId: string, nowMs: number): Promise<string> {
  const email = `${accountId}@example.com`;
  const user = (await db.prisma.user.findUnique({ where: { email } })) ?? (await createMember(db, accountId, { email }));
  const data = { userId: user.id, provedAt: new Date(nowMs), expiresAt: new Date(nowMs + DAY_MS) };
  const { id } = await db.prisma.portalSession.create({ data });
  return id;
}
