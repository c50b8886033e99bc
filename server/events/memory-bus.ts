import type { Bus, Listener } from "./bus";

/** A bus inside one process: listeners are called at once, in the order they subscribed. */
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
