import { z } from "zod";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
const METRICS_INTERVAL_MS = 60_000;

const endpoint = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL." }).optional();
const exporter = (signal: string) =>
  z
    .enum(["otlp", "none"])
    .default("otlp")
    .describe(`otlp sends ${signal} to the collector, if there is a URL for them; none does not.`);

/**
 * The standard variables of OpenTelemetry that are checked at startup. Its SDK reads them itself, and the others of the standard,
 * such as OTEL_BSP_MAX_QUEUE_SIZE.
 */
export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.describe(
    "URL of an OpenTelemetry collector (OTLP over HTTP), for example http://collector:4318. Unset: no traces and metrics are sent.",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint.describe(
    "URL for traces alone, with its path, instead of OTEL_EXPORTER_OTLP_ENDPOINT.",
  ),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint.describe(
    "URL for metrics alone, with its path, instead of OTEL_EXPORTER_OTLP_ENDPOINT.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .describe("Comma-separated headers for the collector, as name=value; usually its key."),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(["http/protobuf"]).default("http/protobuf").describe("http/protobuf; there is no other."),
  OTEL_TRACES_EXPORTER: exporter("traces"),
  OTEL_METRICS_EXPORTER: exporter("metrics"),
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(METRICS_INTERVAL_MS)
    .describe("Milliseconds between two exports of metrics."),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default("spotwire").describe("Name of the service in traces and metrics."),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe("Comma-separated attributes of every trace and metric, as deployment.environment.name=production."),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default("parentbased_always_on")
    .describe(`Which traces are recorded: ${SAMPLERS.join(", ")}. parentbased follows the traceparent header of callers.`),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("Share of traces that traceidratio records, 0 to 1."),
  OTEL_SDK_DISABLED: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["true", "false"]))
    .default("false")
    .describe("true sends nothing, whatever else is set."),
};
