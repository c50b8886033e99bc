import { channel } from "node:diagnostics_channel";
import { httpStatus } from "#lib/contract/errors";
import { isFault } from "#lib/fault";

/** A piece of work that a trace shows as a span. It never holds a key, an address or a price. */
export interface Work {
  /** Names the kind of work: a route or a step, never an id. */
  readonly name: string;
  /** server: somebody outside asked for it; client: it asks somebody outside. */
  readonly kind: "server" | "client" | "internal";
  /** The headers of W3C Trace Context of who asked for it. */
  readonly parent?: { readonly traceparent: string; readonly tracestate: string };
  /** Recorded as a part of other work only, not alone. */
  readonly partOnly?: boolean;
  /** By names of OpenTelemetry's semantic conventions; may be added until the work ends. */
  readonly attributes: Record<string, string | number>;
  /** Identifies what failed; a refused caller is no failure. */
  problem?: string;
}

/** Where work is announced. Without a subscriber (no telemetry) nothing is described, and nothing announced. */
export const WORK_STARTED = "spotwire:work:started";
export const WORK_ENDED = "spotwire:work:ended";

const started = channel(WORK_STARTED);
const ended = channel(WORK_ENDED);

/** HTTP status from which an error is ours. */
const FAILED_FROM = 500;

/** Notes why work ended: a fault by its identifier, another error by its code. */
export function noteError(work: Work, error: unknown): void {
  if (isFault(error)) {
    work.attributes["spotwire.error"] = error.id;
    if (httpStatus(error.id) >= FAILED_FROM) work.problem = error.id;
    return;
  }
  const { code, name = "Error" } = (error ?? {}) as { code?: unknown; name?: string };
  work.problem = typeof code === "string" ? code : name;
}

/** Whether work is recorded: the check to make before anything is created for it. */
export function recordsWork(): boolean {
  return started.hasSubscribers;
}

/** Begins work that ends with a call of the returned function, which takes the error if there was one. */
export function beginWork(work: Work): (error?: unknown) => void {
  started.runStores(work, () => undefined);
  return (error) => {
    if (error !== undefined && error !== null) noteError(work, error);
    ended.publish(work);
  };
}

/**
 * Runs work and records it, with the work inside it as its parts. While nothing is recorded it only runs it.
 * @param run gets the work to add attributes to it; undefined while nothing is recorded
 */
export function traced<Result>(describe: () => Work, run: (work: Work | undefined) => Result): Result {
  if (!started.hasSubscribers) return run(undefined);
  const work = describe();
  return started.runStores(work, () => {
    try {
      const result = run(work);
      if (!(result instanceof Promise)) {
        ended.publish(work);
        return result;
      }
      return endWith(work, result) as Result;
    } catch (error) {
      noteError(work, error);
      ended.publish(work);
      throw error;
    }
  });
}

async function endWith<Value>(work: Work, result: Promise<Value>): Promise<Value> {
  try {
    return await result;
  } catch (error) {
    noteError(work, error);
    throw error;
  } finally {
    ended.publish(work);
  }
}
