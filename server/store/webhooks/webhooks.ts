import { randomUUID } from "node:crypto";
import type { Sealer } from "#lib/access/sealer";
import type { Clock } from "#lib/clock";
import { WEBHOOK_DELIVERIES_MAX_COUNT, WEBHOOKS_MAX_COUNT, WEBHOOKS_PER_ACCOUNT_MAX_COUNT } from "#lib/contract/limits";
import type { StatusEvent, WebhookDelivery, WebhookForm, WebhookInfo } from "#lib/contract/webhooks";
import { Fault } from "#lib/fault";
import { parseReceiver, type Reach } from "#lib/webhooks/receiver";
import { createSecret } from "#lib/webhooks/sign";
import { audit, type ChangedBy } from "#server/store/access/audit";
import { lockOwner } from "#server/store/access/key-owner";
import type { Database } from "#server/store/database/db";
import { queueDelivery } from "./deliveries";

/** The purpose of the key that encrypts the secrets of webhooks. */
export const WEBHOOK_SECRETS = "webhook secrets";

/** What webhooks are managed with. */
interface WebhookContext extends Reach {
  readonly db: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

/** The owner, who changes a webhook of their own account. */
type Owner = Required<ChangedBy>;

const NEWEST = {
  deliveries: { orderBy: { createdAt: "desc" }, take: WEBHOOK_DELIVERIES_MAX_COUNT },
} as const;
type Row = Awaited<ReturnType<typeof readRows>>[number];

const readRows = ({ db }: Pick<WebhookContext, "db">, accountId: string) =>
  db.prisma.webhook.findMany({ where: { accountId }, orderBy: { createdAt: "asc" }, include: NEWEST });

function toDelivery({
  id,
  type,
  createdAt,
  state,
  attempts,
  nextAt,
  status,
  problem,
}: Row["deliveries"][number]): WebhookDelivery {
  return {
    id,
    type: type as WebhookDelivery["type"],
    created_at: createdAt.toISOString(),
    state: state as WebhookDelivery["state"],
    attempts,
    next_at: nextAt?.toISOString() ?? null,
    status,
    problem,
  };
}

const toInfo = ({ id, url, createdAt, pausedBecause, deliveries }: Row): WebhookInfo => ({
  id,
  url,
  created_at: createdAt.toISOString(),
  paused_because: pausedBecause,
  deliveries: deliveries.map(toDelivery),
});

/** What the audit log has of an address: its path can hold a secret of the receiver. */
const originOf = (url: string) => ({ url: new URL(url).origin });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws Fault not_found, also for the webhook of another account */
async function requireWebhook(prisma: Pick<Database["prisma"], "webhook">, id: string, accountId: string) {
  const row = UUID.test(id) ? await prisma.webhook.findFirst({ where: { id, accountId } }) : null;
  if (row === null) throw new Fault("not_found", { detail: "There is no such webhook." });
  return row;
}

/** The webhooks of an account, the oldest first, each with its newest deliveries. */
export async function listWebhooks(context: Pick<WebhookContext, "db">, accountId: string): Promise<WebhookInfo[]> {
  return (await readRows(context, accountId)).map(toInfo);
}

/**
 * Adds a webhook. Only this answer contains its secret.
 * @throws Fault invalid_parameter for an address that may not be called, past a limit, and without a verified email
 */
export async function addWebhook(
  { db, clock, sealer, ...reach }: WebhookContext,
  { url: text }: WebhookForm,
  by: Owner,
): Promise<{ readonly webhook: WebhookInfo; readonly secret: string }> {
  const refuse = (detail: string) => new Fault("invalid_parameter", { parameter: "url", detail });
  const receiver = parseReceiver(text, reach);
  if (typeof receiver === "string") throw refuse(`\`url\` ${receiver}`);
  const { href: url } = receiver.url;
  const [id, secret, accountId] = [randomUUID(), createSecret(), by.accountId];
  return db.prisma.$transaction(async (tx) => {
    await lockOwner(tx, accountId, by);
    if ((await tx.webhook.count({ where: { accountId } })) >= WEBHOOKS_PER_ACCOUNT_MAX_COUNT)
      throw refuse(`An account has at most ${WEBHOOKS_PER_ACCOUNT_MAX_COUNT} webhooks. Remove one first.`);
    if ((await tx.webhook.count()) >= WEBHOOKS_MAX_COUNT)
      throw refuse("This installation has as many webhooks as it allows. Use the Atom feed instead.");
    const data = { id, accountId, url, secret: sealer.seal(secret, id), createdAt: new Date(clock.now()) };
    const row = await tx.webhook.create({ data, include: NEWEST });
    await audit(tx, { ...by, action: "webhook.add", target: id, after: originOf(url) });
    return { webhook: toInfo(row), secret };
  });
}

/** Removes a webhook with its deliveries. @throws Fault not_found */
export async function removeWebhook({ db }: Pick<WebhookContext, "db">, id: string, by: Owner): Promise<void> {
  await db.prisma.$transaction(async (tx) => {
    const { url } = await requireWebhook(tx, id, by.accountId);
    await tx.webhook.delete({ where: { id } });
    await audit(tx, { ...by, action: "webhook.remove", target: id, before: originOf(url) });
  });
}

/** Takes a paused webhook into use again; one in use stays as it is. @throws Fault not_found */
export async function resumeWebhook({ db }: Pick<WebhookContext, "db">, id: string, by: Owner): Promise<void> {
  await db.prisma.$transaction(async (tx) => {
    const { url, pausedAt } = await requireWebhook(tx, id, by.accountId);
    if (pausedAt === null) return;
    await tx.webhook.update({ where: { id }, data: { pausedAt: null, pausedBecause: null, failures: 0 } });
    await audit(tx, { ...by, action: "webhook.resume", target: id, after: originOf(url) });
  });
}

/** Queues a test event, also for a paused webhook; it is tried once. @throws Fault not_found */
export async function testWebhook(
  { db, clock }: Pick<WebhookContext, "db" | "clock">,
  id: string,
  accountId: string,
): Promise<void> {
  await requireWebhook(db.prisma, id, accountId);
  const now = new Date(clock.now()).toISOString();
  const incident = {
    id: `test-${randomUUID()}`,
    part: null,
    title: "Test",
    text: "You asked for this event.",
    impact: "none",
  } as const;
  const event: StatusEvent = { type: "webhook.test", timestamp: now, data: { ...incident, starts_at: now, ends_at: now } };
  await queueDelivery(db.pool, id, event);
}
