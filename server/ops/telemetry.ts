import type { Registry } from "prom-client";
import type { Clock } from "#lib/clock";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";

/** The most time that a stop waits for the collector to take what is left. */
const FLUSH_MAX_MS = 1_000;

interface TelemetryOptions {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Logger;
  /** The metrics that are sent. */
  readonly registry: Registry;
  /** Which of the processes of a node this is. */
  readonly process: "market" | "portal" | "worker";
}

/** What sends traces and metrics. */
interface Telemetry {
  /** Sends what is left, for a second at most. */
  stop(): Promise<void>;
}

/** Which signals are to be sent. */
function wantedSignals(env: Env): { readonly traces: boolean; readonly metrics: boolean } {
  const wanted = (own: string | undefined, chosen: string) =>
    env.OTEL_SDK_DISABLED === "false" && chosen === "otlp" && (own ?? env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  return {
    traces: wanted(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, env.OTEL_TRACES_EXPORTER),
    metrics: wanted(env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, env.OTEL_METRICS_EXPORTER),
  };
}

/**
 * Starts sending traces and metrics to an OpenTelemetry collector, as the OTEL_ variables say. Without an address for them nothing
 * of OpenTelemetry is loaded. A collector that does not answer costs the spans that find their queue full, and nothing else.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const wanted = wantedSignals(options.env);
  if (!wanted.traces && !wanted.metrics) return { stop: async () => undefined };
  const { openExporters } = await import("./telemetry/exporters");
  const exporters = openExporters({ ...options, wanted });
  return {
    async stop() {
      const over = new AbortController();
      await Promise.race([exporters.close(), options.clock.wait(FLUSH_MAX_MS, over.signal)]);
      over.abort();
    },
  };
}
