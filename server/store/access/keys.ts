import { z } from "zod";
import { hashKey, keyLast4, keyPrefix, mintKey } from "#lib/access/key-format";
import { type KeyRecord, toRecord } from "#lib/access/key-record";
import {
  auditedSettings,
  changedSettings,
  expiryOf,
  type KeySettingsChange,
  newSettings,
  requireLifetime,
  settingsOf,
} from "#lib/access/key-settings";
import type { Brand } from "#lib/brand";
import type { Clock } from "#lib/clock";
import { type PlanLimits, ROTATION_GRACES, type RotationGrace } from "#lib/contract/limits";
import { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";
import { audit, type ChangedBy, COMMAND_LINE, SYSTEM } from "./audit";
import { requireListed, requireWithinPlan } from "./key-checks";
import { lockOwner, requireBillingOwner, requireOwnScopes, requireRoom, requireVenue } from "./key-owner";
import { revokeRow } from "./revoke-keys";

/** What keys are managed with. */
export interface KeyContext {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
  /** Where keys are made: what new ones start with. By default `sw`. */
  readonly brand?: Pick<Brand, "keyPrefix">;
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
  /** Host of the agent that it is made for; a key for anybody without one. */
  readonly agentHost?: string;
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
function mint(venue: Venue, { brand }: Pick<KeyContext, "brand">) {
  const text = mintKey(venue, brand?.keyPrefix);
  return { text, columns: { hash: new Uint8Array(hashKey(text)), prefix: keyPrefix(text), last4: keyLast4(text) } };
}

const withAccount = { account: { select: { name: true } } } as const;

/**
 * Makes a key.
 * @throws Fault invalid_parameter naming the setting that is refused, when the account has too many keys, or when its owner
 * has not verified the address; live_access_required
 */
export async function createKey(context: KeyContext, input: NewKey, by: ChangedBy = COMMAND_LINE): Promise<MintedKey> {
  const { db, clock } = context;
  const { accountId, agentHost = null } = input;
  const settings = newSettings(input);
  const expiresAt = expiryOf({ ...settings, expiresAt: input.expiresAt }, clock);
  requireLifetime({ ...settings, expiresAt });
  const now = new Date(clock.now());
  const { text, columns } = mint(settings.venue, context);
  const row = await db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    await requireVenue(tx, accountId, settings.venue, by);
    await requireRoom(tx, accountId, now);
    await requireBillingOwner(tx, accountId, settings.scopes);
    await requireWithinPlan(tx, accountId, settings);
    await requireListed(tx, settings.venue, settings.tickers);
    const madeById = by.actor.id ?? null;
    const data = { ...settings, ...columns, accountId, madeById, expiresAt, agentHost, createdAt: now };
    const made = await tx.apiKey.create({ data, include: withAccount });
    const after = { ...auditedSettings(made), ...(agentHost !== null && { agent_host: agentHost }) };
    await audit(tx, { ...by, accountId, action: "key.create", target: made.id, after });
    return made;
  });
  await db.control.publish({ kind: "keys", keyId: row.id });
  return { text, record: toRecord(row, clock.now()) };
}

/** Whose keys are listed: those of an account by its name or its id, those that a user made, or all. */
interface KeyOwner {
  readonly account?: string | undefined;
  readonly accountId?: string;
  /** The user who made them. */
  readonly madeById?: string;
}

/** All keys of an owner, newest first; never their texts. */
export async function listKeys({ db, clock }: KeyContext, { account, ...owner }: KeyOwner = {}): Promise<KeyRecord[]> {
  const rows = await db.prisma.apiKey.findMany({
    where: { ...(account !== undefined && { account: { name: account } }), ...owner },
    include: withAccount,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
  });
  return rows.map((row) => toRecord(row, clock.now()));
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
    await requireBillingOwner(tx, old.accountId, data.scopes ?? []);
    await requireWithinPlan(tx, old.accountId, data);
    await requireListed(tx, old.venue, data.tickers ?? []);
    const changed = await tx.apiKey.update({ where: { id }, data, include: withAccount });
    const entry = {
      accountId: old.accountId,
      action: "key.edit",
      target: id,
      before: auditedSettings(old),
      after: auditedSettings(changed),
    };
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

/** Of the keys that one replaced, directly or by way of others, those that still work in their grace period. */
const REPLACED_IN_GRACE = `
  WITH RECURSIVE replaced AS (
    SELECT id, revoked_at, grace_until FROM api_key WHERE replaced_by = $1::uuid
    UNION ALL
    SELECT k.id, k.revoked_at, k.grace_until FROM api_key k JOIN replaced ON k.replaced_by = replaced.id)
  SELECT id FROM replaced WHERE revoked_at IS NULL AND grace_until > $2`;

/**
 * Revokes the keys that a key replaced and that still work in their grace period, all or none; resolves with their number.
 * @throws Fault like findKeyRecord for an id that no key has.
 */
export async function revokeReplaced(context: KeyContext, id: string, by: ChangedBy = COMMAND_LINE): Promise<number> {
  const { db, clock } = context;
  await requireKey(context, id, by);
  const now = new Date(clock.now());
  const ids = await db.prisma.$transaction(async (tx) => {
    const replaced = await tx.$queryRawUnsafe<{ id: string }[]>(REPLACED_IN_GRACE, id, now);
    const keys = await tx.apiKey.findMany({ where: { id: { in: replaced.map((key) => key.id) } } });
    for (const key of keys) await revokeRow(tx, key, now, by);
    return keys.map((key) => key.id);
  });
  for (const keyId of ids) await db.control.publish({ kind: "keys", keyId });
  return ids.length;
}

/**
 * Makes a key with the same settings, which takes over the links, and leaves the old one valid for the grace, never past its own expiry.
 * @throws Fault invalid_parameter for a key that is not active, was rotated before, is an agent's or has a scope of operators, when the
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
  if (old.agentHost !== null)
    throw new Fault("invalid_parameter", {
      parameter: "id",
      detail: "The key of an agent cannot be rotated: connect the agent again, and it gets a new one.",
    });
  requireOwnScopes(old.scopes, by);
  const endMs = Math.min(nowMs + ROTATION_GRACES[grace] * 1000, old.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const graceUntil = new Date(endMs);
  const { text, columns } = mint(Venue.parse(old.venue), context);
  const { accountId, name, expiresAt } = old;

  const row = await db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    await requireVenue(tx, accountId, old.venue, by);
    if (endMs > nowMs) await requireRoom(tx, accountId, new Date(nowMs));
    const madeById = by.actor.id ?? null;
    const data = { ...settingsOf(old), ...columns, accountId, madeById, expiresAt, createdAt: new Date(nowMs) };
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

/** The key of a consent, before a host has taken it. */
interface PendingKey {
  readonly id: string;
  /** SHA-256 of the text that nobody was given, in base64url. */
  readonly hash: string;
}

/**
 * Gives a key that a consent made the text that its host gets, once: the text it was made with is void.
 * @returns undefined when it was taken before or has ended; one that was taken before is then revoked, because its code was stolen
 */
export async function takeKey(context: KeyContext, { id, hash }: PendingKey): Promise<MintedKey | undefined> {
  const { db, clock } = context;
  const row = await db.prisma.apiKey.findUnique({ where: { id }, include: withAccount });
  if (row === null || row.revokedAt !== null) return undefined;
  const { text, columns } = mint(Venue.parse(row.venue), context);
  const where = { id, revokedAt: null, hash: new Uint8Array(Buffer.from(hash, "base64url")) };
  const { count } = await db.prisma.apiKey.updateMany({ where, data: columns });
  if (count === 0) {
    await revokeKey(context, id, SYSTEM);
    return undefined;
  }
  await db.control.publish({ kind: "keys", keyId: id });
  return { text, record: toRecord({ ...row, ...columns }, clock.now()) };
}
