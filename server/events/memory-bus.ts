import type { Bus, Listener } from "./bus";

/** A bus within one process: listeners are called synchronously, in the order they subscribed. */
export function createMemoryBus(): Bus {
  let listeners: readonly Listener[] = [];
  return {
    publish(events) {
      if (events.length === 0) return;
      for (const listener of listeners) listener(events);
    },
    subscribe(listener) {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
  };
}
