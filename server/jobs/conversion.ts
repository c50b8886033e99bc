import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { createConverter } from "#server/store/conversion/converter";
import type { Database } from "#server/store/database/db";
import { listNodes } from "#server/store/market/node-reports";
import manifest from "../../package.json" with { type: "json" };

/** How long a cluster waits: nodes are replaced one by one, and those of releases before 0.2.0 do not report theirs. */
const CLUSTER_WAIT_MS = HOUR_MS;
/** How long to wait again while a node of another release reports. */
const LOOK_MS = MINUTE_MS;

interface ConversionOptions {
  readonly db: Pick<Database, "pool" | "client" | "segments" | "control">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether other nodes share the database. */
  readonly isShared: boolean;
}

/**
 * Moves what an earlier release stored as rows into layers, in the background. What a node of an earlier release writes of a ticker
 * after that would not be seen, so a cluster begins an hour after the start, and when all nodes report this release.
 */
export function startConversion({ db, clock, log, isShared }: ConversionOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let converter: ReturnType<typeof createConverter> | undefined;

  async function run(): Promise<void> {
    if (isShared) await clock.wait(CLUSTER_WAIT_MS, stopping.signal);
    while (!stopping.signal.aborted) {
      const nodes = isShared ? await listNodes(db.pool).catch(() => null) : [];
      if (nodes?.every((node) => node.version === manifest.version)) break;
      await clock.wait(LOOK_MS, stopping.signal);
    }
    if (!stopping.signal.aborted) converter = createConverter({ db, clock, log });
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      await converter?.stop();
    },
  };
}
