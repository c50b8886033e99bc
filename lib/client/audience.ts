import { SpotwireError } from "./errors";
import type { StreamListener } from "./stream";

/** Those who hear of the events of a stream: who opened it, and who listens to it. */
export interface Audience {
  /** Tells everybody of an error; false when nobody takes errors. */
  report(error: SpotwireError): boolean;
  /** Runs a callback of the user; its exception is reported as `callback_failed`. */
  call(callback: () => void): void;
  /** Tells everybody of an event. */
  tell(event: (listener: StreamListener) => void): void;
  /** Adds a listener; returns a function that removes it. */
  listen(listener: StreamListener): () => void;
}

const rethrow = (thrown: unknown) =>
  queueMicrotask(() => {
    throw thrown;
  });

/** Runs the user's callbacks: their exceptions must not break the stream, and must not be lost either. */
export function createAudience(first: StreamListener): Audience {
  const listeners = new Set([first]);

  function report(error: SpotwireError): boolean {
    let heard = false;
    for (const { onError } of [...listeners]) {
      if (onError === undefined) continue;
      heard = true;
      try {
        onError(error);
      } catch (thrown) {
        rethrow(thrown);
      }
    }
    return heard;
  }

  function call(callback: () => void): void {
    try {
      callback();
    } catch (thrown) {
      const error = new SpotwireError("callback_failed", "A callback threw; see `cause`.", { cause: thrown });
      if (!report(error)) rethrow(thrown);
    }
  }

  return {
    report,
    call,
    tell(event) {
      for (const listener of [...listeners]) call(() => event(listener));
    },
    listen(listener) {
      // The same object may listen twice.
      const own = { ...listener };
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
