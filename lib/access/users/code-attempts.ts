import { DAY_MS } from "#lib/units";
import type { UserContext, Visitor } from "./context";
import { retryOnConflict } from "./users";

/** A sign-in that waits for its code. */
interface Step {
  readonly userId: string;
  /** Stands for the password: a new one starts the count again, because it voids what was guessed with the old one. */
  readonly mark: string;
}

/** Whose codes count together: those of a browser that signed in before, or those of all others. */
const browserOf = ({ userId }: Step, { known }: Visitor) => (known?.userId === userId ? known.id : "");

/**
 * Counts a code before it is checked, so that codes sent at the same moment all count. Returns how many were tried and not right
 * within a day, with this one. It is kept in the database: a thief with the password has weeks, and nodes restart.
 */
export async function countCode({ db, clock }: UserContext, step: Step, visitor: Visitor): Promise<number> {
  const { userId, mark } = step;
  const browser = browserOf(step, visitor);
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
export async function uncountCode({ db }: UserContext, step: Step, visitor: Visitor): Promise<void> {
  const where = { userId: step.userId, browser: browserOf(step, visitor), count: { gt: 0 } };
  await db.prisma.codeAttempts.updateMany({ where, data: { count: { decrement: 1 } } });
}
