import { z } from "zod";
import type { Clock } from "#lib/clock";
import { KEY_NAME_MAX_CHARACTERS, KEY_ORIGINS_MAX_COUNT, ROTATION_GRACES, type RotationGrace } from "#lib/contract/limits";
import { SCOPES, Scope, Venue } from "#lib/contract/primitives";
import { publish } from "#lib/control";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";
import { hashKey, keyLast4, keyPrefix, mintKey } from "./key-format";
import { type KeyRecord, toRecord } from "./key-record";
import { parseOrigin } from "./origin";

/** Keys of one account that are neither revoked nor expired. */
const ACTIVE_KEYS_MAX_COUNT = 200;

/** What keys are managed with. */
export interface KeyContext {
  readonly db: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
}

/** What is chosen when a key is made; the account is named by its id. */
export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly venue: string;
  readonly scopes: readonly string[];
  readonly origins: readonly string[];
  readonly expiresAt: Date | null;
}

/** A key that was just made. Its text is shown this once and kept nowhere. */
export interface MintedKey {
  readonly text: string;
  readonly record: KeyRecord;
}

const Origin = z.string().transform((text, ctx) => {
  const origin = parseOrigin(text);
  if (origin !== undefined) return origin;
  ctx.addIssue(`${JSON.stringify(text)} is neither scheme://host[:port] nor https://*.example.com.`);
  return z.NEVER;
});

const unique = <Value>(values: Value[]) => [...new Set(values)];

const Settings = z.object({
  name: z
    .string()
    .trim()
    .min(1, "A name is needed.")
    .max(KEY_NAME_MAX_CHARACTERS, `At most ${KEY_NAME_MAX_CHARACTERS} characters.`)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "Must not hold control characters."),
  venue: Venue,
  scopes: z
    .array(Scope)
    .min(1, `At least one of ${SCOPES.join(", ")}.`)
    .transform(unique),
  origins: z.array(Origin).max(KEY_ORIGINS_MAX_COUNT, `At most ${KEY_ORIGINS_MAX_COUNT} origins.`).transform(unique),
});

function parseSettings(input: NewKey): z.output<typeof Settings> {
  const parsed = Settings.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault("invalid_parameter", { parameter: String(issue?.path[0]), detail: issue?.message ?? "Cannot be read." });
}

function requireFuture(expiresAt: Date | null, clock: Clock): void {
  if (expiresAt === null || expiresAt.getTime() > clock.now()) return;
  throw new Fault("invalid_parameter", { parameter: "expires", detail: "Must be an instant in the future." });
}

/** A minted text and the columns that stand for it. */
function mint(venue: Venue) {
  const text = mintKey(venue);
  return { text, columns: { hash: new Uint8Array(hashKey(text)), prefix: keyPrefix(text), last4: keyLast4(text) } };
}

const withAccount = { account: { select: { name: true } } } as const;

/** @throws Fault invalid_parameter naming the setting that is refused, or when the account has too many keys. */
export async function createKey({ db, clock }: KeyContext, input: NewKey): Promise<MintedKey> {
  const { accountId, expiresAt } = input;
  const settings = parseSettings(input);
  requireFuture(expiresAt, clock);
  const now = new Date(clock.now());
  const active = await db.prisma.apiKey.count({
    where: { accountId, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
  });
  if (active >= ACTIVE_KEYS_MAX_COUNT)
    throw new Fault("invalid_parameter", {
      parameter: "account",
      detail: `An account has at most ${ACTIVE_KEYS_MAX_COUNT} active keys.`,
    });
  const { text, columns } = mint(settings.venue);
  const row = await db.prisma.apiKey.create({
    data: { ...settings, ...columns, accountId, expiresAt, createdAt: now },
    include: withAccount,
  });
  await publish(db.pool, { kind: "keys", keyId: row.id });
  return { text, record: toRecord(row, clock.now()) };
}

/** All keys, of one account where its name is given, newest first; never their texts. */
export async function listKeys({ db, clock }: KeyContext, account?: string): Promise<KeyRecord[]> {
  const rows = await db.prisma.apiKey.findMany({
    ...(account !== undefined && { where: { account: { name: account } } }),
    include: withAccount,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
  });
  return rows.map((row) => toRecord(row, clock.now()));
}

async function requireKey({ db }: KeyContext, id: string) {
  const known = z.uuid().safeParse(id).success;
  const row = known ? await db.prisma.apiKey.findUnique({ where: { id }, include: withAccount }) : null;
  if (row === null) throw new Fault("invalid_parameter", { parameter: "id", detail: "No key has this id." });
  return row;
}

/**
 * Revokes a key; every process refuses it within a second. A key that is revoked already stays as it is.
 * @throws Fault invalid_parameter for an id that no key has.
 */
export async function revokeKey(context: KeyContext, id: string): Promise<KeyRecord> {
  const { db, clock } = context;
  await requireKey(context, id);
  await db.prisma.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date(clock.now()) } });
  await publish(db.pool, { kind: "keys", keyId: id });
  return toRecord(await requireKey(context, id), clock.now());
}

/**
 * Makes a key with the same settings and leaves the old one valid for the grace, never past its own expiry.
 * @throws Fault invalid_parameter for an id that no key has, and for a key that is not active or was rotated before.
 */
export async function rotateKey(
  context: KeyContext,
  id: string,
  grace: RotationGrace,
): Promise<MintedKey & { readonly replaced: KeyRecord }> {
  const { db, clock } = context;
  const old = await requireKey(context, id);
  const nowMs = clock.now();
  if (toRecord(old, nowMs).state !== "active")
    throw new Fault("invalid_parameter", { parameter: "id", detail: "Only an active key can be rotated." });
  const endMs = Math.min(nowMs + ROTATION_GRACES[grace] * 1000, old.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const { text, columns } = mint(Venue.parse(old.venue));
  const { accountId, name, venue, scopes, origins, expiresAt } = old;

  const row = await db.prisma.$transaction(async (tx) => {
    const data = { accountId, name, venue, scopes, origins, expiresAt, ...columns, createdAt: new Date(nowMs) };
    const made = await tx.apiKey.create({ data, include: withAccount });
    const replaced = await tx.apiKey.updateMany({
      where: { id, graceUntil: null, revokedAt: null },
      data: { graceUntil: new Date(endMs), replacedById: made.id },
    });
    // Another rotation or a revocation came first: nothing of this one stays.
    if (replaced.count === 0) throw new Fault("invalid_parameter", { parameter: "id", detail: "The key was changed meanwhile." });
    return made;
  });
  await publish(db.pool, { kind: "keys", keyId: id });
  return { text, record: toRecord(row, nowMs), replaced: toRecord(await requireKey(context, id), nowMs) };
}
