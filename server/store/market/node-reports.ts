import type { Pool } from "pg";
import {
  NODE_FORGOTTEN_AFTER_S,
  NODE_SILENT_AFTER_S,
  NODES_MAX_COUNT,
  type NodeHealth,
  NodeReport,
} from "#lib/contract/portal-health";
import { SECOND_MS } from "#lib/units";

type Queries = Pick<Pool, "query">;

// By the clock of the database alone: those of nodes differ.
const KEPT = `reported_at > clock_timestamp() - interval '${NODE_FORGOTTEN_AFTER_S} seconds'`;

const SUCCEED = "DELETE FROM node_report WHERE name = $1";
const WRITE = `
  WITH forgotten AS (DELETE FROM node_report WHERE NOT ${KEPT} AND id <> $1)
  INSERT INTO node_report (id, name, reported_at, report) VALUES ($1, $2, clock_timestamp(), $3)
  ON CONFLICT (id) DO UPDATE SET reported_at = excluded.reported_at, report = excluded.report`;
const REMOVE = "DELETE FROM node_report WHERE id = $1";
const LIST = `
  SELECT name, report, extract(epoch FROM clock_timestamp() - reported_at)::float8 AS age_s
    FROM node_report WHERE ${KEPT} ORDER BY reported_at DESC LIMIT ${NODES_MAX_COUNT}`;

/** One run of a node's process. */
interface NodeRun {
  /** A UUID. */
  readonly id: string;
  /** The same after a restart. */
  readonly name: string;
}

/** Forgets earlier runs of a node that starts: it took their place. */
export async function succeedNode(pool: Queries, { name }: NodeRun): Promise<void> {
  await pool.query(SUCCEED, [name]);
}

/** Stores the newest report of a node, and deletes nodes that have been silent for NODE_FORGOTTEN_AFTER_S. */
export async function writeNodeReport(pool: Queries, { id, name }: NodeRun, report: NodeReport): Promise<void> {
  await pool.query(WRITE, [id, name, JSON.stringify(report)]);
}

/** Deletes the report of a node that stops. */
export async function removeNodeReport(pool: Queries, { id }: NodeRun): Promise<void> {
  await pool.query(REMOVE, [id]);
}

/** The nodes that reported within NODE_FORGOTTEN_AFTER_S, by name; at most NODES_MAX_COUNT, those that reported last. */
export async function listNodes(pool: Queries): Promise<NodeHealth[]> {
  const { rows } = await pool.query<{ name: string; report: unknown; age_s: number }>(LIST);
  const nodes = rows.flatMap(({ name, report, age_s }): NodeHealth[] => {
    // A release whose report cannot be read here is one that this page does not know.
    const { data } = NodeReport.safeParse(report);
    return data === undefined ? [] : [{ ...data, name, age_ms: age_s * SECOND_MS, silent: age_s > NODE_SILENT_AFTER_S }];
  });
  return nodes.sort((a, b) => a.name.localeCompare(b.name));
}
