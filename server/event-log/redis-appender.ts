import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Logger } from "#lib/log";
import type { Redis } from "#server/store/database/redis";
import { createBacklog } from "./backlog";
import type { Appender, Leading } from "./event-log";
import { createBatchWriter, type PrintedBatch } from "./redis-writer";

/** Maximum number of events in a batch. */
const BATCH_MAX_EVENTS = 2_000;
/** After this time without events an empty batch is sent, so that nodes can tell a quiet market from a lost publisher. */
const HEARTBEAT_INTERVAL_MS = 1_000;
const RETRY_MS = 100;
/** How long `stop` waits for the backlog to be sent. */
const STOP_MAX_MS = 1_000;

interface AppenderOptions {
  readonly redis: Redis;
  readonly venue: Venue;
  readonly leading: Leading;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes the way of a leader to Redis. Events appended within one tick of the event loop, or during a send, form one batch. */
export function createAppender({ redis, venue, leading, clock, log }: AppenderOptions): Omit<Appender, "before" | "caughtUp"> {
  const { token, standing, onFenced } = leading;
  const stopping = new AbortController();
  const ended = new AbortController();
  const backlog = createBacklog();
  const writer = createBatchWriter({ redis, venue, token, clock });
  let pending: { upTo: number; resolve: (isSent: boolean) => void }[] = [];
  /** Redis has every event up to this position, or a newer one that replaces it. */
  let sent = 0;
  let fenced = false;
  let n = 0;
  let reachedMs = 0;
  let wake = (): void => undefined;
  let running: Promise<void> | undefined;

  /** Resolves the callers whose events were sent, or all of them when nothing can be sent. */
  function settle(isSent: boolean): void {
    const settled = pending.filter(({ upTo }) => !isSent || upTo <= sent);
    pending = pending.filter((one) => !settled.includes(one));
    for (const { resolve } of settled) resolve(isSent);
  }

  function nextBatch(): { printed: PrintedBatch; upTo: number } {
    // The first batch is the complete restored state, so that a node that starts from it misses no topic.
    const batch = backlog.take(n === 0 ? backlog.size() : BATCH_MAX_EVENTS);
    n += 1;
    const atMs = (backlog.size() > 0 ? batch.at(-1)?.reachedMs : undefined) ?? reachedMs;
    const header = { token, n, ...standing(), reachedMs: atMs };
    const events = batch.map(({ event }) => event);
    return { printed: writer.print(header, events), upTo: batch.at(-1)?.position ?? sent };
  }

  /** True once Redis has answered, false when the batch has to be sent again. */
  async function send(batch: PrintedBatch): Promise<boolean> {
    try {
      if (!(await writer.write(batch))) {
        fenced = true;
        onFenced();
      }
      return true;
    } catch (error) {
      if (!redis.explains(error)) log.warn({ err: error, venue }, "Redis refused market events; sending them again");
      return false;
    }
  }

  async function deliver(batch: PrintedBatch, upTo: number): Promise<void> {
    while (!(await send(batch))) {
      settle(false);
      if (ended.signal.aborted || (stopping.signal.aborted && !redis.connected())) return;
      await clock.wait(RETRY_MS, ended.signal);
      await nextTurn();
    }
    if (fenced) return;
    sent = upTo;
    settle(true);
  }

  async function idle(): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    await clock.wait(HEARTBEAT_INTERVAL_MS, AbortSignal.any([woken.signal, stopping.signal]));
    wake = () => undefined;
  }

  async function run(): Promise<void> {
    while (!fenced && !ended.signal.aborted) {
      if (backlog.size() === 0 && n > 0) {
        if (stopping.signal.aborted) break;
        await idle();
      }
      // Other events of the same tick of the event loop go into the same batch.
      await nextTurn();
      const { printed, upTo } = nextBatch();
      await deliver(printed, upTo);
    }
    settle(false);
  }

  return {
    append(events, atMs) {
      reachedMs = atMs;
      if (fenced || events.length === 0) return;
      backlog.add(events, atMs);
      wake();
    },
    appended() {
      if (fenced || stopping.signal.aborted || !redis.connected()) return Promise.resolve(false);
      const upTo = backlog.position();
      if (upTo <= sent) return Promise.resolve(true);
      return new Promise((resolve) => pending.push({ upTo, resolve }));
    },
    begin() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await Promise.race([running, clock.wait(STOP_MAX_MS)]);
      ended.abort();
      writer.end();
    },
  };
}
