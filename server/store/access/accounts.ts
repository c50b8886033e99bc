import { isDeepStrictEqual } from "node:util";
import type pg from "pg";
import { z } from "zod";
import { Permissions } from "#lib/access/permissions";
import { PUBLIC_MAIL_DOMAINS } from "#lib/access/public-mail-domains";
import { PLAIN_TEXT } from "#lib/contract/primitives";
import { mustBeOneOf } from "#lib/contract/validate";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { audit, type ChangedBy, COMMAND_LINE } from "./audit";
import { HAS_LIVE_ACCESS } from "./key-owner";
import type { KeyContext } from "./keys";

const ACCOUNT_NAME_MAX_CHARACTERS = 120;

/** An account as keys are made for it. */
interface Account {
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
  /** Whether it may use the live venue, whatever its plan says. */
  readonly liveAccess?: boolean;
  /** Whole UTC days of history that it may read, at most those of its plan; null for no bound of its own. */
  readonly historyDays?: number | null;
  /** Domain whose users join it when a provider vouches for them; null for none. */
  readonly signInDomain?: string | null;
}

/** What every change of an account does to its revision. */
export const RAISED = { revision: { increment: 1 } } as const;

const Name = z.string().trim().min(1).max(ACCOUNT_NAME_MAX_CHARACTERS).regex(PLAIN_TEXT);

async function requirePlan({ db }: KeyContext, plan: string): Promise<void> {
  const plans = await db.prisma.plan.findMany({ select: { name: true }, orderBy: { name: "asc" } });
  const allowed = plans.map(({ name }) => name);
  if (!allowed.includes(plan))
    throw new Fault("invalid_parameter", { parameter: "plan", detail: `\`plan\` ${mustBeOneOf(allowed)}`, allowed });
}

/** @throws Fault invalid_parameter for a domain at which anyone gets an address, and for one that another account has */
async function requireOwnDomain({ db }: KeyContext, signInDomain: string, id: string | undefined): Promise<void> {
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "sign_in_domain", detail });
  if (PUBLIC_MAIL_DOMAINS.has(signInDomain))
    throw refuse(`Anyone can get an email address at ${signInDomain}. Enter a domain whose emails all belong to this customer.`);
  const holder = await db.prisma.account.findUnique({ where: { signInDomain } });
  if (holder !== null && holder.id !== id) throw refuse(`${holder.name} has this domain.`);
}

/**
 * The columns that a change of an account sets.
 * @throws Fault invalid_parameter for a plan that there is not, and for a domain that is public or that another account has
 */
export async function changeColumns(context: KeyContext, change: AccountChange, id?: string) {
  const { plan, permissions, suspended, liveAccess, historyDays, signInDomain } = change;
  if (plan !== undefined) await requirePlan(context, plan);
  if (signInDomain !== undefined && signInDomain !== null) await requireOwnDomain(context, signInDomain, id);
  return {
    ...(plan !== undefined && { planName: plan }),
    ...(permissions !== undefined && { permissions: Permissions.parse(permissions) }),
    ...(suspended !== undefined && { suspendedAt: suspended ? new Date(context.clock.now()) : null }),
    ...(liveAccess !== undefined && { liveAccess }),
    // A grant answers a request.
    ...(liveAccess === true && { liveAskedAt: null, liveDeclinedAt: null }),
    ...(historyDays !== undefined && { historyDays }),
    ...(signInDomain !== undefined && { signInDomain }),
  };
}

type Row = Awaited<ReturnType<KeyContext["db"]["prisma"]["account"]["findUniqueOrThrow"]>>;

/** What the audit log keeps of an account. */
const audited = ({ planName, permissions, suspendedAt, liveAccess, historyDays, signInDomain }: Row) => ({
  plan: planName,
  permissions,
  suspended: suspendedAt !== null,
  live_access: liveAccess,
  history_days: historyDays,
  sign_in_domain: signInDomain,
});

/** Changes an account that is locked, with an entry in the audit log; neither where it is so already, as after a colleague who did the same. */
export async function writeChange(
  tx: Prisma.TransactionClient,
  row: Row,
  data: Awaited<ReturnType<typeof changeColumns>>,
  by: ChangedBy,
): Promise<Row> {
  const before = audited(row);
  if (isDeepStrictEqual(before, audited({ ...row, ...data }))) return row;
  const changed = await tx.account.update({ where: { id: row.id }, data: { ...data, ...RAISED } });
  const entry = { accountId: row.id, action: "account.change", target: row.name, before, after: audited(changed) };
  await audit(tx, { ...by, ...entry });
  return changed;
}

/**
 * The account of this name with the changes given. When there is none, an operator makes it: on plan free and with live access,
 * unless given. Changes count on every process within a second.
 * @throws Fault invalid_parameter for a name or plan that cannot be.
 */
export async function putAccount(
  context: KeyContext,
  name: string,
  change: AccountChange = {},
  by: ChangedBy = COMMAND_LINE,
): Promise<Account> {
  const { db, clock } = context;
  const parsed = Name.safeParse(name);
  if (!parsed.success)
    throw new Fault("invalid_parameter", {
      parameter: "account",
      detail: `\`account\` must have 1 to ${ACCOUNT_NAME_MAX_CHARACTERS} characters and no control characters.`,
    });
  const data = await changeColumns(context, change);
  const where = { name: parsed.data };
  const account = await db.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM account WHERE name = ${parsed.data} FOR UPDATE`;
    const known = await tx.account.findUnique({ where });
    if (known !== null) return writeChange(tx, known, data, by);
    const made = await tx.account.create({ data: { ...where, liveAccess: true, createdAt: new Date(clock.now()), ...data } });
    await audit(tx, { ...by, accountId: made.id, action: "account.create", target: made.name, after: audited(made) });
    return made;
  });
  await db.control.publish({ kind: "account", accountId: account.id });
  return { id: account.id, name: account.name, plan: account.planName, suspended: account.suspendedAt !== null };
}

/** So long after operators declined it, an account may ask for live access again. */
export const LIVE_ASK_AGAIN_MS = DAY_MS;

/**
 * Asks the operators for live access of an account; asking again changes nothing while it waits.
 * @throws Fault rate_limited for one that was declined not long ago
 */
export async function askForLive({ db, clock }: KeyContext, id: string, { actor, address }: ChangedBy): Promise<void> {
  const nowMs = clock.now();
  const liveAskedAt = new Date(nowMs);
  await db.prisma.$transaction(async (tx) => {
    const { liveDeclinedAt } = await tx.account.findUniqueOrThrow({ where: { id } });
    const waitMs = liveDeclinedAt === null ? 0 : liveDeclinedAt.getTime() + LIVE_ASK_AGAIN_MS - nowMs;
    if (waitMs > 0) {
      const detail = "Operators declined this less than a day ago. Ask again later.";
      throw new Fault("rate_limited", { detail, retry_after: Math.ceil(waitMs / SECOND_MS) });
    }
    const asks = { where: { id, liveAskedAt: null, NOT: HAS_LIVE_ACCESS }, data: { liveAskedAt, ...RAISED } };
    if ((await tx.account.updateMany(asks)).count === 0) return;
    const { name } = await tx.account.findUniqueOrThrow({ where: { id } });
    await audit(tx, { actor, address, accountId: id, action: "account.ask_live", target: name });
  });
}

/** Operators hear of requests at most this often: whoever signs up can make one. */
const LIVE_REQUESTS_PAUSE_MS = 10 * MINUTE_MS;
const TAKE_REQUESTS = `
  UPDATE account SET live_told_at = $1
   WHERE (live_told_at IS NULL OR live_told_at < live_asked_at) AND live_asked_at IS NOT NULL AND NOT live_access
     AND NOT EXISTS (SELECT FROM plan WHERE plan.name = account.plan AND plan.live_access)
     AND NOT EXISTS (SELECT FROM account AS told WHERE told.live_told_at > $2)
  RETURNING name`;

/** Takes the accounts that ask for live access and of which operators have not heard, each once, however many nodes ask; by name. */
export async function takeLiveRequests(pool: Pick<pg.Pool, "query">, nowMs: number): Promise<string[]> {
  const values = [new Date(nowMs), new Date(nowMs - LIVE_REQUESTS_PAUSE_MS)];
  const { rows } = await pool.query<{ name: string }>(TAKE_REQUESTS, values);
  return rows.map(({ name }) => name).sort();
}
