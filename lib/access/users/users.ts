import { clientBlock } from "#lib/access/address";
import { audit } from "#lib/access/audit";
import type { Prisma, User } from "#lib/generated/prisma/client";
import type { UserContext, Visitor } from "./context";

/** What a new user is made of. */
interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly verified: boolean;
}

/** Makes a user with an account of its own, inside a transaction; the account is named by the address where that is free. */
export async function createUser(
  tx: Prisma.TransactionClient,
  nowMs: number,
  { email, name, passwordHash, verified }: NewUser,
  address: string,
): Promise<User> {
  const now = new Date(nowMs);
  const taken = await tx.account.findUnique({ where: { name: email }, select: { id: true } });
  const accountName = taken === null ? email : `${email} ${crypto.randomUUID().slice(0, 8)}`;
  const account = await tx.account.create({ data: { name: accountName, createdAt: now } });
  const emailVerifiedAt = verified ? now : null;
  const user = await tx.user.create({
    data: { accountId: account.id, email, name, passwordHash, emailVerifiedAt, createdAt: now },
  });
  const actor = { id: user.id, name: email };
  await audit(tx, { actor, accountId: account.id, action: "account.sign_up", target: email, after: { email, name }, address });
  return user;
}

/**
 * Counts a mail that a visitor asks for.
 * @throws Fault rate_limited
 */
export async function takeMailAttempt(
  { attempts }: UserContext,
  purpose: string,
  email: string,
  visitor: Visitor,
): Promise<void> {
  await attempts.take("mail_client", clientBlock(visitor.address));
  await attempts.take("mail_address", `${purpose} ${email}`);
}

/** What PostgreSQL says, through Prisma, of a row that another transaction made first. */
const UNIQUE_VIOLATION = "P2002";

/** Does work once more when another transaction took its name or address meanwhile: it finds what that one made then. */
export async function retryOnConflict<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    return work();
  }
}
