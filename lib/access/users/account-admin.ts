import { z } from "zod";
import { type AccountChange, changeColumns } from "#lib/access/accounts";
import { audit, type ChangedBy } from "#lib/access/audit";
import { toPortalKey } from "#lib/access/key-json";
import { HAS_LIVE_ACCESS } from "#lib/access/key-owner";
import { type KeyContext, listKeys } from "#lib/access/keys";
import { parsePermissions } from "#lib/access/permissions";
import { keyUse } from "#lib/access/usage/key-use";
import { usageReport } from "#lib/access/usage/query";
import type { Clock } from "#lib/clock";
import { LOG_PAGE_MAX_ROWS } from "#lib/contract/portal";
import type { AccountReport } from "#lib/contract/portal-activity";
import type { AccountsQuery, PortalAccount } from "#lib/contract/portal-admin";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";
import type { Prisma } from "#lib/generated/prisma/client";
import { DAY_MS } from "#lib/units";
import { listLinks } from "../links/links";

/** One page of accounts, newest first. */
interface AccountsPage {
  readonly items: PortalAccount[];
  readonly next_before: string | null;
}

type Row = NonNullable<Awaited<ReturnType<typeof find>>>;

function relations(now: Date) {
  const active = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
  return {
    user: { select: { email: true } },
    plan: { select: { liveAccess: true } },
    _count: { select: { keys: { where: active } } },
  } as const;
}

function find(db: Pick<Prisma.TransactionClient, "account">, clock: Clock, id: string) {
  return db.account.findUnique({ where: { id }, include: relations(new Date(clock.now())) });
}

function toPortalAccount(row: Row): PortalAccount {
  return {
    id: row.id,
    name: row.name,
    email: row.user?.email ?? null,
    plan: row.planName,
    permissions: parsePermissions(row.permissions),
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    live_access: row.liveAccess,
    plan_live_access: row.plan.liveAccess,
    created_at: row.createdAt.toISOString(),
    active_keys: row._count.keys,
  };
}

/** Accounts whose name or owner's address contains a text, or that have live access; newest first. */
export async function listAccounts(
  { db, clock }: KeyContext,
  { q, before, live }: z.output<typeof AccountsQuery>,
): Promise<AccountsPage> {
  const holds = { contains: q ?? "", mode: "insensitive" } as const;
  const rows = await db.prisma.account.findMany({
    where: {
      ...(live !== undefined && { AND: HAS_LIVE_ACCESS }),
      ...(q && { OR: [{ name: holds }, { user: { email: holds } }] }),
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
  const [keys, use, links, usage] = await Promise.all([
    listKeys(context, { accountId: id }),
    keyUse(db.pool, id, nowMs),
    listLinks(context, id),
    usageReport(db.pool, id, span),
  ]);
  return { account: toPortalAccount(row), keys: keys.map(toPortalKey), use, links, usage };
}

/**
 * Changes plan, permissions, suspension or live access of an account; every process applies it within a second, also to open connections.
 * @throws Fault not_found; invalid_parameter for an unknown plan
 */
export async function changeAccount(
  context: KeyContext,
  id: string,
  change: AccountChange,
  { actor, address }: ChangedBy,
): Promise<PortalAccount> {
  const { db, clock } = context;
  const notFound = new Fault("not_found", { detail: "This account does not exist." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  const data = await changeColumns(context, change);
  const shown = ({ plan, permissions, suspended_at, live_access }: PortalAccount) => {
    return { plan, permissions, suspended: suspended_at !== null, live_access };
  };
  const account = await db.prisma.$transaction(async (tx) => {
    const before = await find(tx, clock, id);
    if (before === null) throw notFound;
    await tx.account.update({ where: { id }, data });
    const after = toPortalAccount((await find(tx, clock, id)) ?? before);
    const entry = { action: "account.change", target: before.name, before: shown(toPortalAccount(before)), after: shown(after) };
    await audit(tx, { actor, address, accountId: id, ...entry });
    return after;
  });
  await db.control.publish({ kind: "account", accountId: id });
  return account;
}
