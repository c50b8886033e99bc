import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request as openRequest } from "node:http";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import type { ClientQueue, QueuedClient } from "./client-queue";

/** Time a request waits for its turn. */
export const WAIT_MAX_MS = 30_000;
/** How often a request is sent: again, if the portal ended before it answered. */
const SENDS_MAX_COUNT = 2;
/** Methods that change nothing (RFC 9110, 9.2.1). PUT and DELETE may be repeated too, but their second answer would differ. */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
/** The portal did not receive the request at all. */
const UNSENT_CODES = new Set(["ECONNREFUSED", "ENOENT"]);

/** Where the pages are served now. */
export interface Target {
  readonly socketPath: string;
  readonly agent: Agent;
}

/** One request to the portal. */
interface PortalCall {
  /** Whose turn it takes. */
  readonly client: QueuedClient;
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer | undefined;
  /** Called with the head of the answer, whose body follows. */
  readonly onAnswer: (answer: IncomingMessage) => void;
  /** Called when there is no answer, or no more of it. */
  readonly onRefused: (detail: string) => void;
}

/** Sends a request when it is its turn. Returns what drops it, whether it waits or runs; again does nothing. */
export type Send = (call: PortalCall) => () => void;

interface SendOptions {
  readonly queue: ClientQueue;
  /** Undefined while the portal starts. */
  readonly target: () => Target | undefined;
  /** Called when a target gave no answer. Nothing should begin until it is known whether it still works. */
  readonly onLost: (target: Target) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refused">;
}

function canSendAgain(method: string, { code = "" }: NodeJS.ErrnoException): boolean {
  return SAFE_METHODS.has(method) || UNSENT_CODES.has(code);
}

/**
 * Makes what sends requests to the portal's process, each when it is its turn. A request that meets the end of the process waits for the next
 * one, if it can be sent again without harm.
 */
export function createSend({ queue, target, onLost, clock, log, metrics }: SendOptions): Send {
  function ask(call: PortalCall, dropped: AbortSignal, sends: number, end: () => void): void {
    const { method, path, headers, body, onAnswer, onRefused } = call;
    const to = target();
    if (to === undefined || dropped.aborted) {
      end();
      if (!dropped.aborted) onRefused("The portal is starting.");
      return;
    }
    let answered = false;
    const asked = openRequest({ ...to, method, path, headers, setHost: false });
    asked.on("response", (answer) => {
      answered = true;
      onAnswer(answer);
    });
    asked.on("error", (error) => {
      if (dropped.aborted) return;
      log.warn({ reason: error.message, path: path.split("?")[0] }, "the portal did not answer a request");
      onLost(to);
      if (!answered && sends < SENDS_MAX_COUNT && canSendAgain(method, error)) join(call, dropped, sends + 1);
      else onRefused("The portal is restarting.");
    });
    asked.once("close", end);
    dropped.addEventListener("abort", () => asked.destroy(), { once: true });
    asked.end(body);
  }

  function join(call: PortalCall, dropped: AbortSignal, sends: number): void {
    const waited = new AbortController();
    const leave = queue.join(call.client, {
      run(end) {
        waited.abort();
        ask(call, dropped, sends, end);
      },
      displaced() {
        waited.abort();
        metrics.refused("pages", "displaced");
        call.onRefused("Too many requests wait for the portal, most of them from this network.");
      },
    });
    if (leave === undefined) {
      metrics.refused("pages", "too_many_waiting");
      call.onRefused("Too many requests wait for the portal.");
      return;
    }
    if (waited.signal.aborted) return;
    const stopWaiting = () => {
      waited.abort();
      leave();
    };
    dropped.addEventListener("abort", stopWaiting, { once: true });
    void clock.wait(WAIT_MAX_MS, waited.signal).then(() => {
      if (waited.signal.aborted) return;
      stopWaiting();
      metrics.refused("pages", "waited_too_long");
      call.onRefused("The portal did not answer in time.");
    });
  }

  return (call) => {
    const dropping = new AbortController();
    join(call, dropping.signal, 1);
    return () => dropping.abort();
  };
}
