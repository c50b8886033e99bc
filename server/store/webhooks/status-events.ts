import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { WEBHOOK_EVENT_MAX_AGE_S } from "#lib/contract/limits";
import { INCIDENT_JOIN_MINUTES, type IncidentNote, type UptimeReport } from "#lib/contract/uptime";
import type { StatusEvent, StatusEventType } from "#lib/contract/webhooks";
import { DAY_S, MINUTE_MS, SECOND_MS } from "#lib/units";
import { queueEvent } from "./deliveries";

type Queries = Pick<Pool, "query">;
type Data = StatusEvent["data"];

/** Longer than anything that is still compared with it. */
const KEPT_DAYS = 90;

const IN_USE = "SELECT EXISTS (SELECT FROM webhook WHERE paused_at IS NULL) AS some";
const KNOWN = "SELECT id, subject FROM status_event WHERE subject = ANY($1::text[])";
const FORGET = "DELETE FROM status_event WHERE at < $1";

/** A change of an incident. */
interface Change {
  /** The same on every node. */
  readonly id: string;
  readonly atMs: number;
  readonly type: StatusEventType;
  readonly data: Data;
}

const dataOf = ({ key: id, part, title, text, impact, starts_at, ends_at }: IncidentNote): Data => {
  return { id, part, title, text, impact, starts_at, ends_at };
};

/** What the service noticed: opened once, and resolved once no further failure can continue it. */
function ofMeasured(note: IncidentNote, nowMs: number): Change | undefined {
  const { key, part, starts_at, ends_at } = note;
  const data = dataOf(note);
  if (ends_at === null) return { id: `${key}.opened`, atMs: Date.parse(starts_at), type: "incident.opened", data };
  const endedMs = Date.parse(ends_at);
  // The service itself is back for good: it notices.
  if (part !== "service" && nowMs - endedMs < INCIDENT_JOIN_MINUTES * MINUTE_MS) return undefined;
  return { id: `${key}.resolved`, atMs: endedMs, type: "incident.resolved", data };
}

function ofNote(note: IncidentNote, nowMs: number, told: ReadonlySet<string>): Change {
  const { key: id, ends_at, updated_at } = note;
  const data = dataOf(note);
  const endedMs = ends_at === null ? Number.POSITIVE_INFINITY : Date.parse(ends_at);
  const updatedMs = Date.parse(updated_at);
  if (endedMs <= nowMs)
    return { id: `${id}.resolved.${endedMs}`, atMs: Math.max(endedMs, updatedMs), type: "incident.resolved", data };
  return { id: `${id}.${updatedMs}`, atMs: updatedMs, type: told.has(id) ? "incident.updated" : "incident.opened", data };
}

interface TellOptions {
  readonly pool: Queries;
  readonly clock: Clock;
  readonly uptime: () => Promise<Pick<UptimeReport, "notes">>;
}

/**
 * Queues the changes of incidents of the last hour that were not told before, for all webhooks in use that are as old. Every node may run it.
 * @throws pg's error
 */
export async function tellChanges({ pool, clock, uptime }: TellOptions): Promise<void> {
  const { rows } = await pool.query<{ some: boolean }>(IN_USE);
  if (rows[0]?.some !== true) return;
  const { notes } = await uptime();
  const nowMs = clock.now();
  const subjects = notes.map(({ key }) => key);
  const known = (await pool.query<{ id: string; subject: string }>(KNOWN, [subjects])).rows;
  const [ids, told] = [new Set(known.map(({ id }) => id)), new Set(known.map(({ subject }) => subject))];
  const changes = notes.flatMap((note) => (note.automatic ? ofMeasured(note, nowMs) : ofNote(note, nowMs, told)) ?? []);
  const fresh = changes
    .filter(({ id, atMs }) => !ids.has(id) && nowMs - atMs <= WEBHOOK_EVENT_MAX_AGE_S * SECOND_MS)
    .sort((a, b) => a.atMs - b.atMs);
  const timestamp = new Date(nowMs).toISOString();
  for (const { id, atMs, type, data } of fresh) await queueEvent(pool, id, { type, timestamp, data }, new Date(atMs));
  if (fresh.length > 0) await pool.query(FORGET, [new Date(nowMs - KEPT_DAYS * DAY_S * SECOND_MS)]);
}
