import { randomBytes } from "node:crypto";
import { WORKERS_MAX_COUNT } from "#lib/env";

const RANDOM_BYTES = 15;
const SESSION = /^(?<worker>[1-9]\d?)\./;

/** Makes the id of a Socket.IO session, which names the edge worker that has it. */
export function sessionId(worker: number): string {
  return `${worker}.${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

/** The edge worker that has the session of a request, by its target; undefined where it names none. */
export function workerOfSession(target: string): number | undefined {
  const sid = new URLSearchParams(target.split("?")[1] ?? "").get("sid") ?? "";
  const worker = Number(SESSION.exec(sid)?.groups?.worker);
  return worker <= WORKERS_MAX_COUNT ? worker : undefined;
}
