import type { User } from "#lib/generated/prisma/client";
import { DAY_MS } from "#lib/units";
import { isKnownTo, type UserContext, type Visitor } from "./context";
import { retryOnConflict } from "./users";

/** Whose codes count together: those of browsers that signed in before, or those of all others. */
const browserOf = (user: User, { known }: Visitor) => (isKnownTo(known, user) ? "known" : "");

/**
 * Counts a code before it is checked, so that codes sent at the same moment all count. Returns how many were tried and not right
 * within a day, with this one. `mark` stands for the password: a new one starts the count again, because it voids what was
 * guessed with the old one. The count is kept in the database: a thief with the password has weeks, and nodes restart.
 */
export async function countCode({ db, clock }: UserContext, user: User, mark: string, visitor: Visitor): Promise<number> {
  const userId = user.id;
  const browser = browserOf(user, visitor);
  const since = new Date(clock.now());
  const over = { lte: new Date(clock.now() - DAY_MS) };
  await db.prisma.codeAttempts.deleteMany({ where: { userId, OR: [{ since: over }, { mark: { not: mark } }] } });
  const { count } = await retryOnConflict(() =>
    db.prisma.codeAttempts.upsert({
      where: { userId_browser: { userId, browser } },
      create: { userId, browser, mark, since, count: 1 },
      update: { count: { increment: 1 } },
    }),
  );
  return count;
}

/** Takes a code that was right out of the count. */
export async function uncountCode({ db }: UserContext, user: User, visitor: Visitor): Promise<void> {
  const where = { userId: user.id, browser: browserOf(user, visitor), count: { gt: 0 } };
  await db.prisma.codeAttempts.updateMany({ where, data: { count: { decrement: 1 } } });
}
