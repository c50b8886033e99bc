import type { ClientClock } from "./clock";
import { type ReadHeader, SpotwireError } from "./errors";

/** The account's quota according to the last response. */
export interface RateLimit {
  /** Units per minute. */
  readonly limit: number;
  /** Units left in this window. */
  readonly remaining: number;
  /** Seconds from that response until the window ends. */
  readonly resetS: number;
}

/** Reads `RateLimit-Policy: "plan";q=600;w=60` and `RateLimit: "plan";r=587;t=41`; undefined without these headers. */
export function readRateLimit(header: ReadHeader): RateLimit | undefined {
  const limit = /;\s*q=(\d+)/.exec(header("ratelimit-policy") ?? "")?.[1];
  const remaining = /;\s*r=(\d+)/.exec(header("ratelimit") ?? "")?.[1];
  const resetS = /;\s*t=(\d+)/.exec(header("ratelimit") ?? "")?.[1];
  if (limit === undefined || remaining === undefined || resetS === undefined) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetS: Number(resetS) };
}

/** How long a call may wait for its turn. */
interface WaitOptions {
  /** Deadline, on the client's clock. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** True for a call that the service asked to retry; it goes before calls that have not been sent. */
  readonly first: boolean;
}

/** The queue that all calls of a client pass: open, or held by a Retry-After. */
interface CallQueue {
  /**
   * Resolves when the call may be sent, with a function to call once its response was handled.
   * @throws SpotwireError queue_full, aborted, or the error id of the hold when it lasts longer than the call may wait
   */
  enter(patience: WaitOptions): Promise<() => void>;
  /** Holds every call until the error's Retry-After is over. */
  hold(error: SpotwireError): void;
}

interface Waiter {
  admit(leave: () => void): void;
  reject(error: SpotwireError): void;
}

const aborted = (signal: AbortSignal | undefined) =>
  new SpotwireError("aborted", "The call was aborted before it was sent.", { cause: signal?.reason });

/**
 * Makes a queue. After a hold, waiting calls pass one at a time, each after the response to the previous call, because the
 * service would reject a burst again.
 */
export function createCallQueue(clock: ClientClock, maxQueuedCalls: number): CallQueue {
  const queue: Waiter[] = [];
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let heldBy: SpotwireError | undefined;
  let draining = false;
  let nobodyWaits = new AbortController();

  function tooLong(): SpotwireError {
    const leftS = Math.max(0, Math.ceil((heldUntilMs - clock.now()) / 1000));
    const { id = "rate_limited", code, status, data } = heldBy ?? {};
    const detail = `Not sent: the service asked this client to wait another ${leftS} s, which is longer than this call may wait.`;
    return new SpotwireError(id, detail, { code, status, data, retryAfterS: leftS, cause: heldBy });
  }

  async function drain(): Promise<void> {
    draining = true;
    nobodyWaits = new AbortController();
    for (;;) {
      const leftMs = heldUntilMs - clock.now();
      if (queue.length > 0 && leftMs > 0) {
        await clock.wait(leftMs, nobodyWaits.signal);
        continue;
      }
      const waiter = queue.shift();
      if (waiter === undefined) break;
      await new Promise<void>((leave) => waiter.admit(leave));
    }
    draining = false;
  }

  function wait({ deadlineMs, signal, first }: WaitOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const settled = new AbortController();
      const giveUp = (error: () => SpotwireError) => {
        const place = queue.indexOf(waiter);
        if (place < 0) return;
        queue.splice(place, 1);
        if (queue.length === 0) nobodyWaits.abort();
        waiter.reject(error());
      };
      const onAbort = () => giveUp(() => aborted(signal));
      const settle = () => {
        settled.abort();
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        admit: (leave) => {
          settle();
          resolve(leave);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      if (first) queue.unshift(waiter);
      else queue.push(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
      void clock.wait(deadlineMs - clock.now(), settled.signal).then(() => giveUp(tooLong));
      if (!draining) void drain();
    });
  }

  return {
    async enter(patience) {
      if (patience.signal?.aborted) throw aborted(patience.signal);
      if (!draining && clock.now() >= heldUntilMs) return () => {};
      if (heldUntilMs > patience.deadlineMs) throw tooLong();
      if (queue.length >= maxQueuedCalls)
        throw new SpotwireError("queue_full", `Not sent: ${maxQueuedCalls} calls are already waiting.`);
      return wait(patience);
    },
    hold(error) {
      const untilMs = clock.now() + (error.retryAfterS ?? 0) * 1000;
      if (untilMs <= heldUntilMs) return;
      heldUntilMs = untilMs;
      heldBy = error;
    },
  };
}
