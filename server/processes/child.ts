import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import { SECOND_MS } from "#lib/units";
import { withTimeout } from "#lib/with-timeout";
import { type Answers, openChannel } from "./channel";
import { logStderr } from "./json-output";
import type { ChildAnswers, ParentAnswers } from "./parent";
import { responds, watchProcess } from "./watch";

/** Time for a start: a cold one on a busy machine. */
const START_MAX_MS = 120_000;
const RESTART: Backoff = { firstMs: 100, longestMs: 10 * SECOND_MS };
/** A process that hangs must not hold up /metrics, which then has no numbers of it. */
const METRICS_MAX_MS = 1_000;

interface ChildOptions {
  /** As the log names it. */
  readonly name: string;
  /** What the lines are labelled with that it writes outside its log. */
  readonly kind: "portal" | "worker";
  /** Starts a process, with a channel to this one. */
  readonly fork: () => ChildProcess;
  /** What this process answers to it, besides what each child asks. */
  readonly answers: Answers;
  /** Time for the requests in flight when it stops; then it is killed. */
  readonly stopMaxMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A process that this one keeps running, seen from here. */
export interface Child<Start, Ready, Numbers> {
  /**
   * Lets it work, and keeps it running: it is started again when it ends, and ended when it hangs or is not ready in time.
   * @param start what it needs to start
   * @param serve called whenever a process is ready; what it returns is called when that one has ended
   * @returns what the first one said when it was ready
   * @throws Error with the reason, when the first one could not start; further ones are started all the same
   */
  run(start: () => Start, serve: (said: Ready, pid: number | undefined) => () => unknown): Promise<Ready>;
  /** Whether it answers. */
  responds(): Promise<boolean>;
  /** Aborts when the process has ended that runs now. */
  ended(): AbortSignal;
  /** Its metrics; undefined when it does not answer. */
  metrics(): Promise<Numbers | undefined>;
  /** Ends it after the requests in flight. */
  stop(): Promise<void>;
}

/** Starts a process, which waits for `run` before it works. */
export function startChild<Start, Ready, Numbers>(options: ChildOptions): Child<Start, Ready, Numbers> {
  const { name, kind, fork, answers, stopMaxMs, clock, log } = options;
  const stopping = new AbortController();
  let current = launch();
  let running = Promise.resolve();
  let stopped: Promise<void> | undefined;

  function launch() {
    const child = fork();
    logStderr(child.stderr, log.child({ process: kind }));
    const ended = new AbortController();
    child.once("error", () => ended.abort());
    child.once("exit", () => ended.abort());
    const heard = new EventEmitter<{ begin: []; ready: [said: Ready] }>();
    const [begun, ready] = [once(heard, "begin"), once(heard, "ready") as Promise<[Ready]>];
    const failed: { reason?: string } = {};
    const own: ParentAnswers<Ready> = {
      begin: () => void heard.emit("begin"),
      ready: (said) => void heard.emit("ready", said),
      failed: (reason) => void Object.assign(failed, { reason }),
    };
    const channel = openChannel<ChildAnswers<Start, Numbers>>(child, { ...answers, ...own }, clock);
    return { child, channel, begun, ready, ended: ended.signal, failed };
  }

  /** Runs a process until it ends. @throws Error with the reason, unless it was stopped */
  async function live(start: () => Start, serve: (said: Ready, pid: number | undefined) => () => unknown): Promise<void> {
    if (current.ended.aborted) current = launch();
    const { child, channel, begun, ready, ended, failed } = current;
    // Not awaited: on a busy machine it may take longer to load than a question may wait. It says itself when it is ready.
    void begun.then(() => channel.ask("start", start())).catch(() => undefined);
    const inTime = await Promise.race([ready, clock.wait(START_MAX_MS, ended).then(() => undefined)]);
    if (inTime !== undefined) {
      const end = serve(...inTime, child.pid);
      await watchProcess(current, name, { clock, log });
      end();
    } else if (!ended.aborted) {
      child.kill("SIGKILL");
      await once(ended, "abort");
    }
    if (!stopping.signal.aborted) throw new Error(failed.reason ?? `exit code ${child.exitCode ?? child.signalCode}`);
  }

  async function end(): Promise<void> {
    stopping.abort();
    const { child, channel, ended } = current;
    if (!ended.aborted) {
      void channel.ask("stop").catch(() => undefined);
      await clock.wait(stopMaxMs, ended);
      if (!ended.aborted) log.warn(`${name} does not stop; ending it`);
      child.kill("SIGKILL");
    }
    await running;
  }

  return {
    run(start, serve) {
      return new Promise((resolve, reject) => {
        const onError = (error: unknown) => {
          reject(error);
          log.error({ reason: (error as Error).message }, `${name} ended; starting it again`);
        };
        const pausing = { clock, signal: stopping.signal, pause: RESTART, atOnce: true, onError };
        running = repeat(pausing, (healthy) =>
          live(start, (said, pid) => {
            healthy();
            resolve(said);
            return serve(said, pid);
          }),
        );
        void running.then(() => reject(new Error(`${name} was stopped`)));
      });
    },
    responds: () => responds(current),
    ended: () => current.ended,
    metrics: () => withTimeout(current.channel.ask("metrics"), METRICS_MAX_MS, clock).catch(() => undefined),
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}
