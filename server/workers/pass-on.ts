import { Agent } from "node:http";
import type { Clock } from "#lib/clock";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import type { Portal } from "#server/portal/process";
import { createClientQueue } from "#server/processes/client-queue";
import { createForwarder } from "#server/processes/forward";
import { createSend } from "#server/processes/send";
import { passUpgrade } from "#server/processes/upgrade";

/**
 * Pages that this worker passes on at a time. The market process lets them wait for their turn, clients one after the other, and
 * refuses those that are too many.
 */
const PAGES = { runningMaxCount: 1_024, waitingMaxCount: 1_024, clientWaitingMaxCount: 64 };
/** Requests to operators: they do not wait behind pages. */
const OPERATIONS = { runningMaxCount: 32, waitingMaxCount: 256, clientWaitingMaxCount: 64 };

interface PassOnOptions {
  readonly requestsPath: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "refused">;
}

/** Makes the way of requests to the market process, for which this worker has no answer. */
export function createPassOn({ requestsPath, clock, log, metrics }: PassOnOptions) {
  const onLost = () => undefined;
  const forwarder = (limits: typeof PAGES): Portal["handle"] => {
    const queue = createClientQueue(limits);
    queue.open(true);
    const target = { socketPath: requestsPath, agent: new Agent({ keepAlive: true }) };
    return createForwarder(createSend({ queue, target: () => target, onLost, clock, log, metrics }));
  };
  const upgrade: Portal["upgrade"] = (request, socket, head) => {
    passUpgrade(request, socket, head, { socketPath: requestsPath });
    return true;
  };
  return { handle: forwarder(PAGES), operate: forwarder(OPERATIONS), upgrade };
}
