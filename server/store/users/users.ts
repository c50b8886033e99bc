import { clientBlock } from "#lib/access/address";
import { Email } from "#lib/contract/portal";
import type { Role } from "#lib/contract/roles";
import { Fault } from "#lib/fault";
import type { Prisma, User } from "#lib/generated/prisma/client";
import { audit } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import type { UserContext, Visitor } from "./context";

/** The data of a new user. */
interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly verified: boolean;
  /** The version of the terms that they accept; null where there are none. */
  readonly terms: string | null;
}

/** The first organisation of a new user: one that they join, or one of their own, which may wait for approval. */
type FirstOrganisation = { readonly joins: string; readonly role: Role } | { readonly waits: boolean };

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

/** Creates an organisation inside a transaction; it is named after the address of its owner if that name is free. */
export async function createOwn(tx: Prisma.TransactionClient, now: Date, email: string, waits: boolean): Promise<string> {
  const taken = await tx.account.findUnique({ where: { name: email }, select: { id: true } });
  const name = taken === null ? email : `${email} ${crypto.randomUUID().slice(0, 8)}`;
  const account = await tx.account.create({ data: { name, createdAt: now, waitingSince: waits ? now : null } });
  return account.id;
}

/** What is kept of the terms that a sign-up accepts, also where it takes over an address that nobody verified. */
export const termsColumns = (terms: string | null, now: Date) => ({ termsVersion: terms, termsAt: terms === null ? null : now });

/** Creates a user as a member of the first organisation, inside a transaction. */
export async function createUser(
  tx: Prisma.TransactionClient,
  nowMs: number,
  { email, name, passwordHash, verified, terms }: NewUser,
  first: FirstOrganisation,
  address: string,
): Promise<User> {
  const now = new Date(nowMs);
  const [accountId, role] =
    "joins" in first ? [first.joins, first.role] : [await createOwn(tx, now, email, first.waits), "owner" as const];
  const user = await tx.user.create({
    data: {
      accountId,
      email,
      name,
      passwordHash,
      emailVerifiedAt: verified ? now : null,
      ...termsColumns(terms, now),
      createdAt: now,
    },
  });
  await tx.membership.create({ data: { accountId, userId: user.id, role, createdAt: now } });
  const actor = { id: user.id, name: email };
  const after = { email, name, role, ...(terms !== null && { terms }) };
  await audit(tx, { actor, accountId, action: "account.sign_up", target: email, after, address });
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
