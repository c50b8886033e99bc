import { randomUUID } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Registry } from "prom-client";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import manifest from "../../../package.json" with { type: "json" };
import { registryProducer } from "./registry-producer";
import { recordSpans } from "./spans";

interface ExportersOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly registry: Registry;
  readonly process: "market" | "portal" | "worker";
  readonly wanted: { readonly traces: boolean; readonly metrics: boolean };
}

/** What every span and metric says of its sender; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have precedence. */
function resourceOf({ env, process }: ExportersOptions): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        "service.name": env.OTEL_SERVICE_NAME,
        "service.version": manifest.version,
        "service.instance.id": randomUUID(),
        "spotwire.process": process,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Connects as the process does by default, through its proxies where it has some. */
const OUTGOING = { httpAgentOptions: (protocol: string) => (protocol === "https:" ? https.globalAgent : http.globalAgent) };

/** Logs when the collector stops taking what it gets, and when it takes it again. */
function watched<Items, Watched extends Exporter<Items>>(exporter: Watched, signal: string, log: Logger): Watched {
  const send = exporter.export.bind(exporter);
  let failing = false;
  exporter.export = (items, done) =>
    send(items, (result) => {
      const failed = result.code !== ExportResultCode.SUCCESS;
      if (failed && !failing)
        log.warn({ signal, reason: result.error?.message }, "the collector takes no telemetry; what it misses is lost");
      if (!failed && failing) log.info({ signal }, "the collector takes telemetry again");
      failing = failed;
      done(result);
    });
  return exporter;
}

/** Opens the exporters of the SDK, which reads the OTEL_ variables itself, with its bounds: 2048 spans wait, 512 are sent at once. */
export function openExporters(options: ExportersOptions): { close(): Promise<void> } {
  const { env, log, registry, wanted } = options;
  const resource = resourceOf(options);
  const closes: (() => Promise<void>)[] = [];
  if (wanted.traces) {
    const exporter = watched(new OTLPTraceExporter(OUTGOING), "traces", log);
    const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
    const stopRecording = recordSpans(provider.getTracer("spotwire", manifest.version));
    closes.push(async () => {
      stopRecording();
      await provider.shutdown();
    });
  }
  if (wanted.metrics) {
    const exporter = watched(new OTLPMetricExporter(OUTGOING), "metrics", log);
    const exportIntervalMillis = env.OTEL_METRIC_EXPORT_INTERVAL;
    const reader = new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis,
      exportTimeoutMillis: Math.min(exportIntervalMillis, 30_000),
      metricProducers: [registryProducer(registry, resource)],
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    closes.push(() => provider.shutdown());
  }
  return {
    close: async () => {
      await Promise.allSettled(closes.map((close) => close()));
    },
  };
}
