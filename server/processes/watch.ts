import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Channel } from "./channel";

/** How often a process is asked whether it answers. */
export const PING_EVERY_MS = 2_000;
/**
 * Pings without an answer after which a process is considered hung; the channel waits five seconds for each. On a busy machine
 * a healthy process may miss several.
 */
const SILENT_MAX_COUNT = 4;

/** A process that this one has started. */
interface Watched {
  readonly child: Pick<ChildProcess, "kill">;
  readonly channel: Channel<{ ping(): void }>;
  /** Aborts when it has ended. */
  readonly ended: AbortSignal;
}

/** Whether a process answers. */
export function responds({ channel }: Pick<Watched, "channel">): Promise<boolean> {
  return channel.ask("ping").then(
    () => true,
    () => false,
  );
}

/** Ends a process that does not answer. Returns when it has ended. */
export async function watchProcess(watched: Watched, name: string, { clock, log }: { clock: Clock; log: Logger }): Promise<void> {
  const { child, ended } = watched;
  let silent = 0;
  while (!ended.aborted) {
    await clock.wait(PING_EVERY_MS, ended);
    silent = ended.aborted || (await responds(watched)) ? 0 : silent + 1;
    if (silent < SILENT_MAX_COUNT || ended.aborted) continue;
    log.error(`${name} does not answer; ending it`);
    child.kill("SIGKILL");
    await once(ended, "abort");
  }
}
