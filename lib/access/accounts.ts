import { z } from "zod";
import { publish } from "#lib/control";
import { Fault } from "#lib/fault";
import type { KeyContext } from "./keys";
import { Permissions } from "./permissions";

const ACCOUNT_NAME_MAX_CHARACTERS = 120;

/** An account as keys are made for it. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly suspended: boolean;
}

/** What may be changed of an account; what is absent stays. */
export interface AccountChange {
  readonly plan?: string;
  readonly permissions?: Permissions;
  readonly suspended?: boolean;
}

const Name = z
  .string()
  .trim()
  .min(1)
  .max(ACCOUNT_NAME_MAX_CHARACTERS)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);

async function requirePlan({ db }: KeyContext, plan: string): Promise<void> {
  const plans = await db.prisma.plan.findMany({ select: { name: true }, orderBy: { name: "asc" } });
  const allowed = plans.map(({ name }) => name);
  if (!allowed.includes(plan))
    throw new Fault("invalid_parameter", { parameter: "plan", detail: `One of ${allowed.join(", ")}.`, allowed });
}

/**
 * The account of this name with the changes given, made when there is none (on plan free unless given). Changes count on
 * every process within a second.
 * @throws Fault invalid_parameter for a name or plan that cannot be.
 */
export async function putAccount(context: KeyContext, name: string, change: AccountChange = {}): Promise<Account> {
  const { db, clock } = context;
  const parsed = Name.safeParse(name);
  if (!parsed.success)
    throw new Fault("invalid_parameter", {
      parameter: "account",
      detail: `1 to ${ACCOUNT_NAME_MAX_CHARACTERS} characters without control characters.`,
    });
  const { plan, permissions, suspended } = change;
  if (plan !== undefined) await requirePlan(context, plan);
  const data = {
    ...(plan !== undefined && { planName: plan }),
    ...(permissions !== undefined && { permissions: Permissions.parse(permissions) }),
    ...(suspended !== undefined && { suspendedAt: suspended ? new Date(clock.now()) : null }),
  };
  const account = await db.prisma.account.upsert({
    where: { name: parsed.data },
    create: { name: parsed.data, createdAt: new Date(clock.now()), ...data },
    update: data,
  });
  await publish(db.pool, { kind: "account", accountId: account.id });
  return { id: account.id, name: account.name, plan: account.planName, suspended: account.suspendedAt !== null };
}
