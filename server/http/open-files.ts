import { readFileSync } from "node:fs";

/** Files that are no client's: databases, the portal, providers, recordings, logs. */
const RESERVED_COUNT = 128;
const LIMITS = "/proc/self/limits";
const MAX_OPEN = /^Max open files\s+(\d+)/m;

/**
 * How many connections the files leave that this process may open (`ulimit -n`), at least half of them; infinite where nothing
 * says. Node has raised the soft limit to the hard one when it started.
 */
export function connectionRoom(limits = readLimits()): number {
  const [, files] = MAX_OPEN.exec(limits) ?? [];
  if (files === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(Number(files) - RESERVED_COUNT, Math.floor(Number(files) / 2));
}

/** Empty on systems other than Linux. */
function readLimits(): string {
  try {
    return readFileSync(LIMITS, "utf8");
  } catch {
    return "";
  }
}
