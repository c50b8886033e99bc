import { Registry } from "prom-client";
import { collectProcess } from "#lib/metrics";

/** Tells the metrics of the portal's process from those of the market process, which publishes both. */
const PREFIX = "spotwire_portal_";

/** Collects memory, processor time and event loop lag of the portal's process. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectProcess(registry, PREFIX);
  return registry;
}
