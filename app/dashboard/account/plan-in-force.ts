import type { PlanInForce } from "#components/account/account-view";
import type { Runtime } from "#lib/runtime";

/** The plan of an account with its limits, as the database has it now. */
export async function planInForce({ db }: Pick<Runtime, "db">, accountId: string): Promise<PlanInForce> {
  const { plan } = await db.prisma.account.findUniqueOrThrow({ where: { id: accountId }, include: { plan: true } });
  return plan;
}
