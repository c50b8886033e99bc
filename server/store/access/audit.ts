import { randomUUID } from "node:crypto";
import type pg from "pg";
import { z } from "zod";
import { maskKeys } from "#lib/access/mask-keys";
import { csvCell } from "#lib/contract/csv";
import { SEARCH_MAX_CHARACTERS } from "#lib/contract/limits";
import type { AuditLogEntry } from "#lib/contract/portal";
import { AUDIT_KINDS } from "#lib/contract/portal-activity";
import { Fault } from "#lib/fault";
import { Prisma } from "#lib/generated/prisma/client";
import type { Database } from "#server/store/database/db";

/** One entry holds at most so much of `before` and of `after`, as JSON; of more only its length is kept. */
const VALUE_MAX_CHARACTERS = 65_536;
const PAGE_DEFAULT_ROWS = 50;
/** Fields whose values never go into the log. A boolean under such a name says that it changed, not what it is. */
const SECRET_NAME = /password|secret|token|hash|authorization|cookie|^key$|^text$/i;
const REMOVED = "[removed]";

/** What the audit log is written to: Prisma's client, or the client of a transaction. */
type AuditStore = Pick<Prisma.TransactionClient, "auditEntry">;

/** Who made a change; `name` is an email address, "command line" or "system". */
interface Actor {
  readonly id?: string;
  readonly name: string;
}

/** Who changes something, and from where. */
export interface ChangedBy {
  readonly actor: Actor;
  /** The one account whose things exist for them; absent for operators, who see all. */
  readonly accountId?: string;
  /** Address of the client; null where there is none. */
  readonly address: string | null;
}

/** The actor of a request without a sign-in. */
export const NOT_SIGNED_IN: Actor = { name: "not signed in" };

/** An operator at a terminal of the machine. */
export const COMMAND_LINE: ChangedBy = { actor: { name: "command line" }, address: null };

/** The service itself. */
export const SYSTEM: ChangedBy = { actor: { name: "system" }, address: null };

/** A change that was made. */
export interface AuditedChange {
  readonly actor: Actor;
  /** The account it concerns; null for what concerns none. */
  readonly accountId: string | null;
  /** As `key.rotate`, `account.plan`, `calendar.override`. */
  readonly action: string;
  /** What was changed: an id or a name. */
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Address of the client; null where there is none. */
  readonly address: string | null;
}

function withoutSecrets(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name) && value !== null && typeof value !== "boolean") return REMOVED;
  return typeof value === "string" ? maskKeys(value) : value;
}

/** A value as it is kept: JSON without secrets, bounded; null for what is absent. */
function kept(value: unknown): Prisma.InputJsonValue | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value, withoutSecrets);
  if (text.length > VALUE_MAX_CHARACTERS) return { left_out_characters: text.length };
  return JSON.parse(text) as Prisma.InputJsonValue;
}

function entryOf({ actor, accountId, action, target, before, after, address }: AuditedChange) {
  return {
    actor: actor.name,
    actorId: actor.id ?? null,
    accountId,
    action,
    target: maskKeys(target),
    before: kept(before),
    after: kept(after),
    address,
  };
}

/**
 * Writes one entry of the audit log. Given the client of a transaction, change and entry come or fail together. Values under
 * names of secrets, and anything that looks like a key, are taken out first.
 */
export async function audit(db: AuditStore, change: AuditedChange): Promise<void> {
  const entry = entryOf(change);
  const { before, after } = entry;
  await db.auditEntry.create({ data: { ...entry, before: before ?? Prisma.DbNull, after: after ?? Prisma.DbNull } });
}

const ENTRY = `INSERT INTO audit_entry (id, actor, actor_id, account_id, action, target, before, after, address)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9)`;

/** The same in a transaction of a connection without Prisma. */
export async function auditOn(client: pg.ClientBase, change: AuditedChange): Promise<void> {
  const { actor, actorId, accountId, action, target, before, after, address } = entryOf(change);
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const values = [randomUUID(), actor, actorId, accountId, action, target, json(before), json(after), address];
  await client.query(ENTRY, values);
}

/** What a reader asks of the audit log: the next page by `next_before` of the one before. */
const AuditPageQuery = z.strictObject({ before: z.uuid().optional() });

/** The same for an owner of an organisation, who may ask for the changes of one member. */
export const MemberAuditQuery = AuditPageQuery.extend({ member: z.uuid().optional() });

/** The same with filters, for operators. */
export const AuditSearchQuery = AuditPageQuery.extend({
  kind: z.enum(AUDIT_KINDS).optional(),
  /** Text contained in the actor or the target. */
  q: z.string().trim().max(SEARCH_MAX_CHARACTERS).optional(),
});

/** Which entries to return: those of one account, or of all accounts if none is given. */
interface AuditQuery {
  readonly accountId?: string;
  /** Only what this user did. */
  readonly actorId?: string | undefined;
  /** `next_before` of the page before. */
  readonly before?: string | undefined;
  readonly kind?: (typeof AUDIT_KINDS)[number] | undefined;
  readonly q?: string | undefined;
  /** At most LOG_PAGE_MAX_ROWS; 50 unless given. */
  readonly limit?: number;
}

/** One page of the audit log, newest first. */
interface AuditPage {
  readonly items: AuditLogEntry[];
  /** Asks for the next page; null at the end. */
  readonly next_before: string | null;
}

interface Row {
  id: string;
  at: Date;
  actor: string;
  action: string;
  target: string;
  before: unknown;
  after: unknown;
  address: string | null;
}

const COLUMNS = "id, at, actor, action, target, before, after, address";
const PAGE = `ORDER BY at DESC, id DESC LIMIT $2`;
// Only after an entry of the account: another one would tell when something happened elsewhere.
const OLDER = "(at, id) < (SELECT at, id FROM audit_entry WHERE id = $3 AND ($1::uuid IS NULL OR account_id = $1))";
const KIND = "starts_with(action, $4)";
const TEXT = "(strpos(lower(actor), lower($5)) > 0 OR strpos(lower(target), lower($5)) > 0)";

/** @throws Fault invalid_parameter for a `before` that no page gave */
export async function listAudit(db: Pick<Database, "pool">, query: AuditQuery): Promise<AuditPage> {
  const { accountId = null, actorId = null, before, limit = PAGE_DEFAULT_ROWS, kind, q } = query;
  if (before !== undefined && !z.uuid().safeParse(before).success)
    throw new Fault("invalid_parameter", {
      parameter: "before",
      detail: "`before` must be the `next_before` of the previous page.",
    });
  // Written out by case, so that each has its index; every parameter is named, because PostgreSQL must know its type.
  const conditions = [
    accountId === null ? "$1::uuid IS NULL" : "account_id = $1::uuid",
    before === undefined ? "$3::uuid IS NULL" : OLDER,
    kind === undefined ? "$4::text IS NULL" : KIND,
    q ? TEXT : "$5::text IS NULL",
    actorId === null ? "$6::uuid IS NULL" : "actor_id = $6::uuid",
  ];
  const values = [accountId, limit + 1, before ?? null, kind === undefined ? null : `${kind}.`, q || null, actorId];
  const where = conditions.join(" AND ");
  const { rows } = await db.pool.query<Row>(`SELECT ${COLUMNS} FROM audit_entry WHERE ${where} ${PAGE}`, values);
  const items = rows.slice(0, limit).map((row) => ({ ...row, at: row.at.toISOString() }));
  return { items, next_before: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Maximum rows of an exported log, the newest. */
const AUDIT_EXPORT_MAX_ROWS = 10_000;

/** The newest changes of an account as CSV, with values as JSON. */
export async function auditCsv(db: Pick<Database, "pool">, accountId: string, actorId?: string): Promise<string> {
  const { items } = await listAudit(db, { accountId, actorId, limit: AUDIT_EXPORT_MAX_ROWS });
  const json = (value: unknown) => (value === null ? "" : JSON.stringify(value));
  const rows = items.map(({ at, actor, action, target, before, after, address }) =>
    [at, actor, action, target, json(before), json(after), address ?? ""].map(csvCell).join(","),
  );
  return ["at,actor,action,target,before,after,address", ...rows, ""].join("\r\n");
}
