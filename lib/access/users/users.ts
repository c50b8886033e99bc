import { clientBlock } from "#lib/access/address";
import { audit } from "#lib/access/audit";
import type { KeyContext } from "#lib/access/keys";
import { Email } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import type { UserContext, Visitor } from "./context";

/** The data of a new user. */
interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly verified: boolean;
}

/**
 * The user with this address, as an operator at a terminal types it.
 * @throws Fault invalid_parameter
 */
export async function requireUser({ db }: Pick<KeyContext, "db">, address: string): Promise<User> {
  const parsed = Email.safeParse(address);
  const user = parsed.success ? await db.prisma.user.findUnique({ where: { email: parsed.data } }) : null;
  if (user !== null) return user;
  throw new Fault("invalid_parameter", { parameter: "email", detail: `No user has the address ${address}.` });
}

/** Creates a user with an account, inside a transaction; the account is named after the address if that name is free. */
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
 * Counts an email that a visitor requests.
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

/** Prisma's code for a row that another transaction created first. */
export const UNIQUE_VIOLATION = "P2002";

/** Repeats the work once if another transaction took its name or address meanwhile, because it then finds that row. */
export async function retryOnConflict<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    return work();
  }
}
