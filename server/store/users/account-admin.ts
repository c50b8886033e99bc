import { z } from "zod";
import { toPortalKey } from "#lib/access/key-json";
import { shorterHistory } from "#lib/access/limits/plans";
import { parsePermissions, readsOf } from "#lib/access/permissions";
import type { Clock } from "#lib/clock";
import type { CustomerForm } from "#lib/contract/organisation";
import { LOG_PAGE_MAX_ROWS } from "#lib/contract/portal";
import type { AccountReport } from "#lib/contract/portal-activity";
import type { AccountsQuery, PortalAccount } from "#lib/contract/portal-admin";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";
import { DAY_MS } from "#lib/units";
import { type AccountChange, changeColumns, RAISED, writeChange } from "#server/store/access/accounts";
import { audit, type ChangedBy } from "#server/store/access/audit";
import { ASKS_FOR_LIVE, HAS_LIVE_ACCESS } from "#server/store/access/key-owner";
import { type KeyContext, listKeys } from "#server/store/access/keys";
import { listLinks } from "#server/store/access/links";
import type { Database } from "#server/store/database/db";
import { keyUse } from "#server/store/usage/key-use";
import { usageReport } from "#server/store/usage/query";
import { listInvitations } from "./invitations";
import { listMembers } from "./members";
import { lockAccount } from "./memberships";

/** One page of accounts, newest first. */
interface AccountsPage {
  readonly items: PortalAccount[];
  readonly next_before: string | null;
}

type Row = NonNullable<Awaited<ReturnType<typeof find>>>;

function relations(now: Date) {
  const active = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
  return {
    members: {
      where: { role: "owner" },
      select: { user: { select: { email: true } } },
      orderBy: { createdAt: "asc" },
      take: 1,
    },
    plan: { select: { liveAccess: true, historyDays: true, permissions: true } },
    _count: { select: { keys: { where: active }, members: true } },
  } as const;
}

function find(db: Pick<Prisma.TransactionClient, "account">, clock: Clock, id: string) {
  return db.account.findUnique({ where: { id }, include: relations(new Date(clock.now())) });
}

function toPortalAccount(row: Row): PortalAccount {
  const [permissions, planPermissions] = [parsePermissions(row.permissions), parsePermissions(row.plan.permissions)];
  return {
    id: row.id,
    name: row.name,
    email: row.members[0]?.user.email ?? null,
    members: row._count.members,
    waiting_since: row.waitingSince?.toISOString() ?? null,
    sign_in_domain: row.signInDomain,
    plan: row.planName,
    permissions,
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    live_access: row.liveAccess,
    plan_live_access: row.plan.liveAccess,
    live_asked_at: row.liveAccess || row.plan.liveAccess ? null : (row.liveAskedAt?.toISOString() ?? null),
    history_days: row.historyDays,
    reads: {
      ...readsOf(permissions, planPermissions),
      history_days: shorterHistory(row.historyDays, row.plan.historyDays),
    },
    created_at: row.createdAt.toISOString(),
    active_keys: row._count.keys,
    revision: row.revision,
  };
}

/** Filter of accounts that wait for an operator. */
const WAITS: Prisma.AccountWhereInput = { OR: [{ waitingSince: { not: null } }, ASKS_FOR_LIVE] };

/** How many accounts have live access, by a grant or by their plan. */
export const countLive = ({ db }: Pick<KeyContext, "db">): Promise<number> => db.prisma.account.count({ where: HAS_LIVE_ACCESS });

/** How many accounts wait for an operator, for approval or for live access. */
export const countWaiting = ({ db }: Pick<KeyContext, "db">): Promise<number> => db.prisma.account.count({ where: WAITS });

/** Accounts whose name or a member's address contains a text, that have live access, or that wait for an operator; newest first. */
export async function listAccounts(
  { db, clock }: KeyContext,
  { q, before, live, waiting }: z.output<typeof AccountsQuery>,
): Promise<AccountsPage> {
  const holds = { contains: q ?? "", mode: "insensitive" } as const;
  const rows = await db.prisma.account.findMany({
    where: {
      AND: [live === undefined ? {} : HAS_LIVE_ACCESS, waiting === undefined ? {} : WAITS],
      ...(q && { OR: [{ name: holds }, { members: { some: { user: { email: holds } } } }] }),
      ...(before !== undefined && { id: { lt: before } }),
    },
    include: relations(new Date(clock.now())),
    orderBy: { id: "desc" },
    take: LOG_PAGE_MAX_ROWS + 1,
  });
  const items = rows.slice(0, LOG_PAGE_MAX_ROWS).map(toPortalAccount);
  return { items, next_before: rows.length > LOG_PAGE_MAX_ROWS ? (items.at(-1)?.id ?? null) : null };
}

/** Days of usage in an account's report. */
const REPORT_DAYS = 30;

/**
 * One account with its keys, their use, and its links.
 * @throws Fault not_found
 */
export async function reportAccount(
  context: KeyContext & { readonly db: Pick<Database, "pool"> },
  id: string,
): Promise<AccountReport> {
  const { db, clock } = context;
  const row = z.uuid().safeParse(id).success ? await find(db.prisma, clock, id) : null;
  if (row === null) throw new Fault("not_found", { detail: "This account does not exist." });
  const nowMs = clock.now();
  const toMs = nowMs - (nowMs % DAY_MS) + DAY_MS;
  const span = { grain: "day", fromMs: toMs - REPORT_DAYS * DAY_MS, toMs, keyId: null, operation: null } as const;
  const [keys, use, links, usage, invitations, members] = await Promise.all([
    listKeys(context, { accountId: id }),
    keyUse(db.pool, id, nowMs),
    listLinks(context, id),
    usageReport(db.pool, id, span),
    listInvitations(context, id),
    listMembers(context, id),
  ]);
  return { account: toPortalAccount(row), members, invitations, keys: keys.map(toPortalKey), use, links, usage };
}

/** An account that stays as it is until the transaction ends. @throws Fault not_found */
async function lockedAccount(tx: Prisma.TransactionClient, clock: Clock, id: string): Promise<Row> {
  const mayBe = z.uuid().safeParse(id).success;
  if (mayBe) await lockAccount(tx, id);
  const row = mayBe ? await find(tx, clock, id) : null;
  if (row === null) throw new Fault("not_found", { detail: "This account does not exist." });
  return row;
}

/**
 * Changes plan, suspension or what an account may read; every process applies it within a second, also to open connections.
 * Resolves with the account as it was and as it is.
 * @param revision of the account that was decided on; null to change it whatever it is
 * @throws Fault not_found; conflict for another revision; invalid_parameter as changeColumns
 */
export async function changeAccount(
  context: KeyContext,
  id: string,
  change: AccountChange,
  revision: number | null,
  by: ChangedBy,
): Promise<{ readonly before: PortalAccount; readonly after: PortalAccount }> {
  const { db, clock } = context;
  const data = await changeColumns(context, change, id);
  const changed = await db.prisma.$transaction(async (tx) => {
    const row = await lockedAccount(tx, clock, id);
    if (revision !== null && row.revision !== revision)
      throw new Fault("conflict", {
        detail: `${row.name} was changed after you read it, and nothing was saved. Look at it as it is now before you decide.`,
      });
    await writeChange(tx, row, data, by);
    return { before: toPortalAccount(row), after: toPortalAccount((await find(tx, clock, id)) ?? row) };
  });
  await db.control.publish({ kind: "account", accountId: id });
  return changed;
}

/**
 * Declines the request of an account for live access, and changes nothing else of it: what a colleague granted stays.
 * @throws Fault not_found; conflict for an account that does not ask, or no longer does
 */
export async function declineLive({ db, clock }: KeyContext, id: string, by: ChangedBy): Promise<PortalAccount> {
  return db.prisma.$transaction(async (tx) => {
    const row = await lockedAccount(tx, clock, id);
    const { name, live_asked_at } = toPortalAccount(row);
    if (live_asked_at === null)
      throw new Fault("conflict", {
        detail: `${name} does not ask for live access, or another operator has decided. Nothing was changed.`,
      });
    await tx.account.update({
      where: { id },
      data: { liveAskedAt: null, liveDeclinedAt: new Date(clock.now()), ...RAISED },
    });
    await audit(tx, { ...by, accountId: id, action: "account.decline_live", target: name });
    return toPortalAccount((await find(tx, clock, id)) ?? row);
  });
}

/**
 * Creates a customer: an organisation without members, whose first owner is invited next.
 * @throws Fault invalid_parameter for a name that is taken, and for an unknown plan
 */
export async function createCustomer(
  context: KeyContext,
  { name, plan }: z.output<typeof CustomerForm>,
  by: ChangedBy,
): Promise<PortalAccount> {
  const { db, clock } = context;
  const data = { name, ...(await changeColumns(context, { plan })), createdAt: new Date(clock.now()) };
  return db.prisma.$transaction(async (tx) => {
    if ((await tx.account.findUnique({ where: { name } })) !== null)
      throw new Fault("invalid_parameter", { parameter: "name", detail: "Another account has this name." });
    const { id } = await tx.account.create({ data });
    await audit(tx, { ...by, accountId: id, action: "account.create", target: name, after: { plan } });
    const made = await find(tx, clock, id);
    if (made === null) throw new Error("the account was just created");
    return toPortalAccount(made);
  });
}

/**
 * Approves an account that waits, or refuses it: then it is deleted with its only member, who may sign up again. Resolves with
 * the addresses of its owners, to tell them.
 * @throws Fault not_found; invalid_parameter for an account that does not wait
 */
export async function decideWaiting(
  { db, clock }: KeyContext,
  id: string,
  approved: boolean,
  by: ChangedBy,
): Promise<readonly string[]> {
  const notFound = new Fault("not_found", { detail: "This account does not exist." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  const owners = await db.prisma.$transaction(async (tx) => {
    const waits = { id, waitingSince: { not: null } };
    const members = await tx.membership.findMany({ where: { accountId: id }, include: { user: true } });
    const { count } = await tx.account.updateMany({ where: waits, data: { waitingSince: null } });
    const before = await find(tx, clock, id);
    if (before === null) throw notFound;
    // Another operator decided first.
    if (count === 0)
      throw new Fault("invalid_parameter", { parameter: "id", detail: "This account does not wait for approval." });
    const action = approved ? "account.approve" : "account.refuse";
    await audit(tx, { ...by, accountId: id, action, target: before.name });
    if (!approved) {
      await tx.user.deleteMany({ where: { accountId: id, memberships: { every: { accountId: id } } } });
      for (const { userId } of members) {
        const next = await tx.membership.findFirst({ where: { userId, NOT: { accountId: id } }, orderBy: { createdAt: "asc" } });
        if (next !== null)
          await tx.user.updateMany({ where: { id: userId, accountId: id }, data: { accountId: next.accountId } });
      }
      await tx.account.delete({ where: { id } });
    }
    return members.filter(({ role, user }) => role === "owner" && user.emailVerifiedAt !== null).map(({ user }) => user.email);
  });
  await db.control.publish({ kind: "sessions" });
  return owners;
}
