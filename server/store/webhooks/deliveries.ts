import type { Pool } from "pg";
import type { Sealer } from "#lib/access/sealer";
import type { Clock } from "#lib/clock";
import type { AlertKind, AlertSwitch } from "#lib/contract/alerts";
import {
  WEBHOOK_DELIVERIES_MAX_COUNT,
  WEBHOOK_FAILURES_MAX_COUNT,
  WEBHOOK_RETRY_DELAYS_S,
  WEBHOOK_SENDING_MAX_COUNT,
} from "#lib/contract/limits";
import type { AccountEvent, StatusEvent, UsageEvent, WarningEvent, WebhookEvent } from "#lib/contract/webhooks";
import { traced, type Work } from "#lib/spans";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Attempt, Send } from "#server/outgoing/webhooks";

type Queries = Pick<Pool, "query">;

/** A claimed delivery is sent by others after this: the node that claimed it is gone. Longer than any attempt takes. */
const CLAIM_MS = MINUTE_MS;
/** HTTP "Gone": the receiver asks not to be called again. */
const GONE = 410;

const TEST: WebhookEvent["type"] = "webhook.test";

const QUEUE = `
  INSERT INTO webhook_delivery (webhook_id, type, body, created_at, next_at)
  SELECT id, $2, $3, $4, $4 FROM webhook WHERE id = $1`;
// An event is told once: of two nodes that notice it, one stores it.
const queueWhere = (receivers: string) => `
  WITH event AS (INSERT INTO status_event (id, subject, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id)
  INSERT INTO webhook_delivery (webhook_id, type, body, created_at, next_at)
  SELECT webhook.id, $4, $5, $3, $3 FROM webhook, event WHERE paused_at IS NULL AND ${receivers}`;
const QUEUE_EVENT = queueWhere("webhook.created_at <= $6");
const QUEUE_FOR_OPERATORS = queueWhere(
  // Of nobody else: it tells of all accounts, or of the installation.
  `(SELECT bool_and(u.operator) FROM membership m JOIN portal_user u ON u.id = m.user_id WHERE m.account_id = webhook.account_id)`,
);
const TRIM = `
  DELETE FROM webhook_delivery WHERE id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER (PARTITION BY webhook_id ORDER BY created_at DESC, id DESC) AS place FROM webhook_delivery) AS placed
     WHERE place > ${WEBHOOK_DELIVERIES_MAX_COUNT})`;
// Every node may ask: a delivery is claimed by one of them. Where the limited query is a condition of the update instead, the database may
// read it again for each row, skips those it has claimed itself, and claims more.
const CLAIM = `
  WITH due AS MATERIALIZED (
    SELECT id FROM webhook_delivery WHERE next_at <= $1 ORDER BY next_at LIMIT ${WEBHOOK_SENDING_MAX_COUNT} FOR UPDATE SKIP LOCKED)
  UPDATE webhook_delivery AS d SET attempts = attempts + 1, next_at = $2
    FROM due, webhook AS w
   WHERE d.id = due.id AND w.id = d.webhook_id
  RETURNING d.id, d.webhook_id, d.type, d.body, d.attempts, w.url, w.secret, w.paused_at IS NOT NULL AS paused`;
const RECORD = `
  UPDATE webhook_delivery SET state = $2, next_at = $3, sent_at = $4, status = $5, problem = $6 WHERE id = $1`;
const WELL = "UPDATE webhook SET failures = 0 WHERE id = $1 AND failures > 0";
const FAILED = `
  UPDATE webhook SET failures = failures + 1,
         paused_at = CASE WHEN failures + 1 >= $2 THEN coalesce(paused_at, $3) ELSE paused_at END,
         paused_because = CASE WHEN failures + 1 >= $2 THEN coalesce(paused_because, $4) ELSE paused_because END
   WHERE id = $1`;
const QUEUE_FOR_ACCOUNT = queueWhere(
  `webhook.account_id = $6 AND EXISTS (SELECT FROM account a WHERE a.id = $6 AND NOT $7 = ANY(a.alerts_off))`,
);
interface Due {
  readonly id: string;
  readonly webhook_id: string;
  readonly type: WebhookEvent["type"];
  readonly body: string;
  /** With the one that is claimed. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: Uint8Array;
  readonly paused: boolean;
}

/** Queues an event for one webhook, paused or not. */
export async function queueDelivery(pool: Queries, webhookId: string, event: StatusEvent): Promise<void> {
  await pool.query(QUEUE, [webhookId, event.type, JSON.stringify(event), event.timestamp]);
  await pool.query(TRIM);
}

/**
 * Queues an event for all webhooks in use, unless it was before.
 * @param id the same for this event on every node
 */
export async function queueEvent(pool: Queries, id: string, event: StatusEvent, at: Date): Promise<void> {
  await pool.query(QUEUE_EVENT, [id, event.data.id, event.timestamp, event.type, JSON.stringify(event), at]);
  await pool.query(TRIM);
}

/** The same for the webhooks of accounts of operators. */
export async function queueForOperators(pool: Queries, id: string, event: UsageEvent | WarningEvent): Promise<void> {
  await pool.query(QUEUE_FOR_OPERATORS, [id, event.data.id, event.timestamp, event.type, JSON.stringify(event)]);
  await pool.query(TRIM);
}

/** The same for the webhooks of one account, unless it switched these alerts off. */
export async function queueForAccount(
  pool: Queries,
  { id: accountId, kind }: { readonly id: string; readonly kind: AlertKind },
  event: AccountEvent,
): Promise<void> {
  const off: AlertSwitch = `${kind}.webhook`;
  const { id } = event.data;
  await pool.query(QUEUE_FOR_ACCOUNT, [id, id, event.timestamp, event.type, JSON.stringify(event), accountId, off]);
  await pool.query(TRIM);
}

interface DeliverOptions {
  readonly pool: Queries;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly send: Send;
  readonly signal: AbortSignal;
}

async function fail({ pool, clock }: DeliverOptions, { webhook_id }: Due, { status, problem }: Attempt): Promise<void> {
  const gone = status === GONE;
  const because = gone
    ? `The receiver answered ${GONE}: it asks not to be called again.`
    : `${WEBHOOK_FAILURES_MAX_COUNT} deliveries in a row failed. The last one: ${problem}`;
  const values = [webhook_id, gone ? 1 : WEBHOOK_FAILURES_MAX_COUNT, new Date(clock.now()), because];
  await pool.query(FAILED, values);
}

/** Sends what is due once; undefined for an event of a webhook that was paused since. */
async function attemptOf({ clock, sealer, send, signal }: DeliverOptions, due: Due): Promise<Attempt | undefined> {
  if (due.paused && due.type !== TEST) return undefined;
  const secret = sealer.open(due.secret, due.webhook_id);
  if (secret === undefined)
    return { status: null, problem: "The secret of this installation changed. Remove the webhook and add it again." };
  return send({ url: due.url, secret, id: due.id, body: due.body, nowMs: clock.now() }, signal);
}

function noteAttempt(work: Work, { status, problem }: Attempt): void {
  if (status !== null) work.attributes["http.response.status_code"] = status;
  if (problem !== null) work.problem = status === null ? "not_sent" : String(status);
}

/** A delivery in a trace. Where it goes is not told: addresses of receivers can have secrets in them. */
function describe({ type, attempts }: Due): Work {
  return {
    name: "webhook delivery",
    kind: "client",
    attributes: { "spotwire.webhook.event": type, "spotwire.webhook.attempt": attempts },
  };
}

function deliver(options: DeliverOptions, due: Due): Promise<void> {
  return traced(
    () => describe(due),
    (work) => sendAndRecord(options, due, work),
  );
}

async function sendAndRecord(options: DeliverOptions, due: Due, work: Work | undefined): Promise<void> {
  const { pool, clock, signal } = options;
  const attempt = await attemptOf(options, due);
  if (work !== undefined && attempt !== undefined) noteAttempt(work, attempt);
  // A node that stops did not wait for the answer; another one tries again.
  if (signal.aborted) return;
  const nowMs = clock.now();
  if (attempt === undefined) {
    await pool.query(RECORD, [due.id, "failed", null, new Date(nowMs), null, "The webhook was paused."]);
    return;
  }
  const { status, problem } = attempt;
  const delayS = due.type === TEST || status === GONE ? undefined : WEBHOOK_RETRY_DELAYS_S[due.attempts - 1];
  const retryAt = problem === null || delayS === undefined ? null : new Date(nowMs + delayS * SECOND_MS);
  const state = problem === null ? "delivered" : retryAt === null ? "failed" : "waiting";
  await pool.query(RECORD, [due.id, state, retryAt, new Date(nowMs), status, problem]);
  if (due.type === TEST) return;
  if (state === "delivered") await pool.query(WELL, [due.webhook_id]);
  if (state === "failed") await fail(options, due, attempt);
}

/**
 * Sends what is due, WEBHOOK_SENDING_MAX_COUNT at once, until nothing is. Of several nodes each delivery is sent by one.
 * @throws pg's error
 */
export async function deliverDue(options: DeliverOptions): Promise<void> {
  const { pool, clock, signal } = options;
  while (!signal.aborted) {
    const nowMs = clock.now();
    const { rows } = await pool.query<Due>(CLAIM, [new Date(nowMs), new Date(nowMs + CLAIM_MS)]);
    if (rows.length === 0) return;
    await Promise.all(rows.map((due) => deliver(options, due)));
  }
}
