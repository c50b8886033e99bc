import { z } from "zod";
import { toRecord } from "#lib/access/key-record";
import type { Clock } from "#lib/clock";
import { LINK_LIFETIME_MAX_S, LINKS_PER_ACCOUNT_MAX_COUNT } from "#lib/contract/limits";
import type { LinkedId } from "#lib/contract/linked-ids";
import type { LinkInfo } from "#lib/contract/portal-links";
import { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { ApiKey, DataLink } from "#lib/generated/prisma/client";
import { DAY_S, SECOND_MS } from "#lib/units";
import { audit, type ChangedBy } from "./audit";
import { lockOwner, requireVenue } from "./key-owner";
import type { KeyContext } from "./keys";

/** A link to be created: the call as `queryOfLink` checked it. */
export interface NewLink {
  readonly name: string;
  readonly keyId: string;
  readonly operation: LinkedId;
  readonly query: string;
  readonly expiresAt: Date;
}

/** The owner, who changes a link of their own account. */
type Owner = Required<ChangedBy>;
type KeyRow = ApiKey & { readonly account: { readonly name: string } };
type Row = DataLink & { readonly key: KeyRow };

const WITH_KEY = { key: { include: { account: { select: { name: true } } } } } as const;
const READ = "market:read";

const refuse = (parameter: string, detail: string) => new Fault("invalid_parameter", { parameter, detail });

/** True for a key that can call what links stand for. */
function canRead(key: KeyRow, { now }: Clock): boolean {
  const { state, scopes } = toRecord(key, now());
  return (state === "active" || state === "grace") && scopes.includes(READ);
}

function toInfo(row: Row, clock: Clock): LinkInfo {
  const expired = row.expiresAt.getTime() <= clock.now();
  return {
    id: row.id,
    name: row.name,
    key_id: row.keyId,
    key_name: row.key.name,
    key_prefix: row.key.prefix,
    key_last4: row.key.last4,
    venue: Venue.parse(row.key.venue),
    operation: row.operation,
    query: row.query,
    state: expired ? "expired" : canRead(row.key, clock) ? "active" : "no_key",
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    last_used_address: row.lastUsedAddress,
  };
}

/** What the audit log keeps of a link. */
const audited = ({ name, key, operation, query, expiresAt }: Row) => ({
  name,
  of_key: key.name,
  call: `${operation}?${query}`,
  expires_at: expiresAt,
});

/** The links of an account, newest first; never their addresses. */
export async function listLinks({ db, clock }: KeyContext, accountId: string): Promise<LinkInfo[]> {
  const rows = await db.prisma.dataLink.findMany({
    where: { key: { accountId } },
    include: WITH_KEY,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: LINKS_PER_ACCOUNT_MAX_COUNT,
  });
  return rows.map((row) => toInfo(row, clock));
}

/** @throws Fault not_found, also for the link of another account */
async function requireLink(prisma: Pick<KeyContext["db"]["prisma"], "dataLink">, id: string, accountId: string): Promise<Row> {
  const known = z.uuid().safeParse(id).success;
  const row = known ? await prisma.dataLink.findFirst({ where: { id, key: { accountId } }, include: WITH_KEY }) : null;
  if (row === null) throw new Fault("not_found", { detail: "There is no such link." });
  return row;
}

function requireLifetime(expiresAt: Date, nowMs: number): void {
  const leftMs = expiresAt.getTime() - nowMs;
  if (leftMs <= 0) throw refuse("expires_at", "`expires_at` must be in the future.");
  if (leftMs > LINK_LIFETIME_MAX_S * SECOND_MS)
    throw refuse("expires_at", `\`expires_at\` must be at most ${LINK_LIFETIME_MAX_S / DAY_S} days from now.`);
}

/**
 * Creates a link.
 * @throws Fault invalid_parameter for an expiry that is past or too far off, for a key that is not the owner's, does not work or
 * lacks the scope market:read, when the account has too many links, and without a verified email; live_access_required
 */
export async function createLink({ db, clock }: KeyContext, link: NewLink, by: Owner): Promise<LinkInfo> {
  const { keyId, expiresAt } = link;
  const { accountId } = by;
  requireLifetime(expiresAt, clock.now());
  return db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    const key = await tx.apiKey.findFirst({ where: { id: keyId, accountId }, include: WITH_KEY.key.include });
    if (key === null || !canRead(key, clock))
      throw refuse("key_id", `Choose one of your keys that works and has the scope \`${READ}\`.`);
    await requireVenue(tx, accountId, key.venue, by);
    if ((await tx.dataLink.count({ where: { key: { accountId } } })) >= LINKS_PER_ACCOUNT_MAX_COUNT)
      throw refuse("name", `An account has at most ${LINKS_PER_ACCOUNT_MAX_COUNT} links. Revoke one first.`);
    const row = await tx.dataLink.create({ data: { ...link, createdAt: new Date(clock.now()) }, include: WITH_KEY });
    await audit(tx, { ...by, action: "link.create", target: row.id, after: audited(row) });
    return toInfo(row, clock);
  });
}

/** The link with this id. @throws Fault not_found, also for the link of another account */
export async function findLinkInfo({ db, clock }: KeyContext, id: string, accountId: string): Promise<LinkInfo> {
  return toInfo(await requireLink(db.prisma, id, accountId), clock);
}

/**
 * Revokes a link for good; every process refuses it within a second.
 * @returns its name
 * @throws Fault not_found, also for the link of another account
 */
export async function revokeLink({ db }: KeyContext, id: string, by: Owner): Promise<string> {
  const { name, keyId } = await db.prisma.$transaction(async (tx) => {
    const row = await requireLink(tx, id, by.accountId);
    await tx.dataLink.delete({ where: { id } });
    await audit(tx, { ...by, action: "link.revoke", target: id, before: audited(row) });
    return row;
  });
  // What processes know of a link is forgotten with what they know of its key.
  await db.control.publish({ kind: "keys", keyId });
  return name;
}
