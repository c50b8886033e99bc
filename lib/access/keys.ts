import { z } from "zod";
import type { Clock } from "#lib/clock";
import { type PlanLimits, ROTATION_GRACES, type RotationGrace } from "#lib/contract/limits";
import { Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";
import { audit, type ChangedBy, COMMAND_LINE } from "./audit";
import { hashKey, keyLast4, keyPrefix, mintKey } from "./key-format";
import { requireListed, requireWithinPlan } from "./key-limits";
import { lockOwner, requireOwnScopes, requireRoom, requireVenue } from "./key-owner";
import { type KeyRecord, toRecord } from "./key-record";
import { changedSettings, expiryOf, type KeySettingsChange, newSettings, requireLifetime, settingsOf } from "./key-settings";
import { revokeRow } from "./revoke-keys";

/** What keys are managed with. */
export interface KeyContext {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
}

/** Limits of a key; without one, the account's alone applies. */
type OwnLimits = { readonly [Name in keyof PlanLimits]?: number | null | undefined };

/** What is chosen when a key is made; the account is named by its id. */
export interface NewKey extends OwnLimits {
  readonly accountId: string;
  readonly name: string;
  readonly venue: string;
  readonly scopes: readonly string[];
  readonly origins: readonly string[];
  /** From anywhere without any. */
  readonly addresses?: readonly string[] | undefined;
  /** All that the account may read without any. */
  readonly tickers?: readonly string[] | undefined;
  /** Valid at once without one. */
  readonly notBefore?: Date | null | undefined;
  /** Null for never; a year from now by default. */
  readonly expiresAt?: Date | null | undefined;
}

/** A key that was just made. Its text is shown this once and kept nowhere. */
export interface MintedKey {
  readonly text: string;
  readonly record: KeyRecord;
}

/** What of a key may be changed later; what is absent stays. */
interface KeyChange extends KeySettingsChange {
  /** Null for never. */
  readonly expiresAt?: Date | null | undefined;
}

/** A minted text and the columns that stand for it. */
function mint(venue: Venue) {
  const text = mintKey(venue);
  return { text, columns: { hash: new Uint8Array(hashKey(text)), prefix: keyPrefix(text), last4: keyLast4(text) } };
}

const withAccount = { account: { select: { name: true } } } as const;

/** What the audit log keeps of a key. */
const audited = (row: Parameters<typeof settingsOf>[0] & Pick<KeyRecord, "expiresAt">) => {
  const { notBefore, restPerMinute, restBurst, streamConnections, subscriptionsPerConnection, ...settings } = settingsOf(row);
  return {
    ...settings,
    rest_per_minute: restPerMinute,
    rest_burst: restBurst,
    stream_connections: streamConnections,
    subscriptions_per_connection: subscriptionsPerConnection,
    not_before: notBefore,
    expires_at: row.expiresAt,
  };
};

/**
 * Makes a key.
 * @throws Fault invalid_parameter naming the setting that is refused, when the account has too many keys, or when its owner
 * has not verified the address; live_access_required
 */
export async function createKey({ db, clock }: KeyContext, input: NewKey, by: ChangedBy = COMMAND_LINE): Promise<MintedKey> {
  const { accountId } = input;
  const settings = newSettings(input);
  const expiresAt = expiryOf({ ...settings, expiresAt: input.expiresAt }, clock);
  requireLifetime({ ...settings, expiresAt });
  const now = new Date(clock.now());
  const { text, columns } = mint(settings.venue);
  const row = await db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    await requireVenue(tx, accountId, settings.venue, by);
    await requireRoom(tx, accountId, now);
    await requireWithinPlan(tx, accountId, settings);
    await requireListed(tx, settings.venue, settings.tickers);
    const data = { ...settings, ...columns, accountId, expiresAt, createdAt: now };
    const made = await tx.apiKey.create({ data, include: withAccount });
    await audit(tx, { ...by, accountId, action: "key.create", target: made.id, after: audited(made) });
    return made;
  });
  await db.control.publish({ kind: "keys", keyId: row.id });
  return { text, record: toRecord(row, clock.now()) };
}

/** Whose keys are listed: those of an account by its name or its id, or all. */
interface KeyOwner {
  readonly account?: string | undefined;
  readonly accountId?: string;
}

/** All keys of an owner, newest first; never their texts. */
export async function listKeys({ db, clock }: KeyContext, { account, accountId }: KeyOwner = {}): Promise<KeyRecord[]> {
  const rows = await db.prisma.apiKey.findMany({
    where: { ...(account !== undefined && { account: { name: account } }), ...(accountId !== undefined && { accountId }) },
    include: withAccount,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
  });
  return rows.map((row) => toRecord(row, clock.now()));
}

/** The keys of an account that work now, newest first; never their texts. */
export async function listValidKeys(context: KeyContext, accountId: string): Promise<KeyRecord[]> {
  return (await listKeys(context, { accountId })).filter(({ state }) => state === "active" || state === "grace");
}

async function requireKey({ db }: KeyContext, id: string, { accountId }: ChangedBy) {
  const known = z.uuid().safeParse(id).success;
  const where = { id, ...(accountId !== undefined && { accountId }) };
  const row = known ? await db.prisma.apiKey.findUnique({ where, include: withAccount }) : null;
  if (row !== null) return row;
  // On the web a key of somebody else must look like a page that is not there; at a terminal the id is what was mistyped.
  const detail = "No key has this id.";
  throw accountId === undefined
    ? new Fault("invalid_parameter", { parameter: "id", detail })
    : new Fault("not_found", { detail });
}

/**
 * The key with this id.
 * @throws Fault invalid_parameter for an id that no key has; not_found where only one account's keys are seen.
 */
export async function findKeyRecord(context: KeyContext, id: string, by: ChangedBy): Promise<KeyRecord> {
  return toRecord(await requireKey(context, id, by), context.clock.now());
}

/**
 * Changes a key that is active or in its grace; every process follows within a second.
 * @throws Fault invalid_parameter naming the setting that is refused, for a key that is no longer valid or has a scope of
 * operators, or when its owner has not verified the address; like findKeyRecord for an id that no key has.
 */
export async function editKey(
  context: KeyContext,
  id: string,
  change: KeyChange,
  by: ChangedBy = COMMAND_LINE,
): Promise<KeyRecord> {
  const { db, clock } = context;
  // The person who sets an expiry knows it: only warnings that fall due later are sent.
  const expiry = change.expiresAt !== undefined && {
    expiresAt: expiryOf({ expiresAt: change.expiresAt }, clock),
    expiryToldAt: new Date(clock.now()),
  };
  const data = { ...changedSettings(change), ...expiry };
  const old = await requireKey(context, id, by);
  requireLifetime({ ...old, ...data });
  if (!["scheduled", "active", "grace"].includes(toRecord(old, clock.now()).state))
    throw new Fault("invalid_parameter", { parameter: "id", detail: "Only a valid key can be changed." });
  requireOwnScopes(old.scopes, by);
  const row = await db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, old.accountId, by);
    await requireWithinPlan(tx, old.accountId, data);
    await requireListed(tx, old.venue, data.tickers ?? []);
    const changed = await tx.apiKey.update({ where: { id }, data, include: withAccount });
    const entry = { accountId: old.accountId, action: "key.edit", target: id, before: audited(old), after: audited(changed) };
    await audit(tx, { ...by, ...entry });
    return changed;
  });
  await db.control.publish({ kind: "keys", keyId: id });
  return toRecord(row, clock.now());
}

/**
 * Revokes a key; every process refuses it within a second. A key that is already revoked does not change.
 * @throws Fault like findKeyRecord for an id that no key has.
 */
export async function revokeKey(context: KeyContext, id: string, by: ChangedBy = COMMAND_LINE): Promise<KeyRecord> {
  const { db, clock } = context;
  const key = await requireKey(context, id, by);
  await db.prisma.$transaction((tx) => revokeRow(tx, key, new Date(clock.now()), by));
  await db.control.publish({ kind: "keys", keyId: id });
  return findKeyRecord(context, id, by);
}

/**
 * Makes a key with the same settings, which takes over the links, and leaves the old one valid for the grace, never past its own expiry.
 * @throws Fault invalid_parameter for a key that is not active, was rotated before or has a scope of operators, when the
 * account has too many keys for a grace, or when its owner has not verified the address; live_access_required; like
 * findKeyRecord for an id that no key has.
 */
export async function rotateKey(
  context: KeyContext,
  id: string,
  grace: RotationGrace,
  by: ChangedBy = COMMAND_LINE,
): Promise<MintedKey & { readonly replaced: KeyRecord }> {
  const { db, clock } = context;
  const old = await requireKey(context, id, by);
  const nowMs = clock.now();
  if (!["scheduled", "active"].includes(toRecord(old, nowMs).state))
    throw new Fault("invalid_parameter", { parameter: "id", detail: "Only an active key can be rotated." });
  requireOwnScopes(old.scopes, by);
  const endMs = Math.min(nowMs + ROTATION_GRACES[grace] * 1000, old.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const graceUntil = new Date(endMs);
  const { text, columns } = mint(Venue.parse(old.venue));
  const { accountId, name, expiresAt } = old;

  const row = await db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    await requireVenue(tx, accountId, old.venue, by);
    if (endMs > nowMs) await requireRoom(tx, accountId, new Date(nowMs));
    const data = { ...settingsOf(old), ...columns, accountId, expiresAt, createdAt: new Date(nowMs) };
    const made = await tx.apiKey.create({ data, include: withAccount });
    const replaced = await tx.apiKey.updateMany({
      where: { id, graceUntil: null, revokedAt: null },
      data: { graceUntil, replacedById: made.id },
    });
    // Another rotation or a revocation came first: this one is rolled back.
    if (replaced.count === 0)
      throw new Fault("invalid_parameter", { parameter: "id", detail: "The key was changed by somebody else at the same time." });
    // The address of a link does not hold the key's text, so the new key takes them over.
    await tx.dataLink.updateMany({ where: { keyId: id }, data: { keyId: made.id } });
    const after = { name, grace_until: graceUntil, replaced_by: made.id };
    await audit(tx, { ...by, accountId, action: "key.rotate", target: id, before: { name, grace_until: null }, after });
    return made;
  });
  await db.control.publish({ kind: "keys", keyId: id });
  return { text, record: toRecord(row, nowMs), replaced: await findKeyRecord(context, id, by) };
}
