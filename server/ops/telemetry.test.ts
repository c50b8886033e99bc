import { createRequire } from "node:module";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import { recordsWork } from "#lib/spans";
import { collectingLog } from "#lib/testing/collecting-log";
import { SECOND_MS } from "#lib/units";
import { readEnv } from "#server/env";
import { startTelemetry } from "./telemetry";

const COLLECTOR = "http://127.0.0.1:9";
const stops: (() => Promise<void>)[] = [];
const clock = manualClock(0);
beforeEach(() => void vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "100"));
afterEach(async () => {
  const stopped = Promise.all(stops.splice(0).map((stop) => stop()));
  // Nobody answers at the address, and a stop does not wait for longer.
  await clock.advance(SECOND_MS);
  await stopped;
  vi.unstubAllEnvs();
});

async function start(settings: Readonly<Record<string, string>>): Promise<void> {
  const options = { clock, log: collectingLog([], "warn"), registry: new Registry(), process: "market" as const };
  stops.push((await startTelemetry({ ...options, env: readEnv(settings) })).stop);
}

/** Whether a part of the SDK is loaded. Its programming interface alone is no sign: the library of the metrics loads it. */
function isLoaded(part: string): boolean {
  return Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes(`/@opentelemetry/${part}/`));
}

// The first test: what is loaded stays loaded.
test.each([
  ["no address", {}],
  ["an address, and the switch for all", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_SDK_DISABLED: "TRUE" }],
  [
    "an address, and none of both",
    { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" },
  ],
])("with %s nothing is recorded, and nothing of the SDK is loaded", async (_, settings) => {
  await start(settings);
  expect(recordsWork()).toBe(false);
  expect(isLoaded("sdk-trace-base")).toBe(false);
  expect(isLoaded("otlp-exporter-base")).toBe(false);
});

test.each([
  ["an address", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR }, true],
  ["an address for traces", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${COLLECTOR}/v1/traces` }, true],
  ["an address for metrics", { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${COLLECTOR}/v1/metrics` }, false],
  ["an address, and no traces", { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_TRACES_EXPORTER: "none" }, false],
])("with %s spans are recorded: %o %s", async (_, settings, records) => {
  await start(settings);
  expect(isLoaded("sdk-trace-base")).toBe(true);
  expect(recordsWork()).toBe(records);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /OTEL_EXPORTER_OTLP_PROTOCOL/],
  [{ OTEL_TRACES_SAMPLER: "sometimes" }, /OTEL_TRACES_SAMPLER/],
  [{ OTEL_TRACES_SAMPLER_ARG: "2" }, /OTEL_TRACES_SAMPLER_ARG/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
  [{ OTEL_METRIC_EXPORT_INTERVAL: "1" }, /OTEL_METRIC_EXPORT_INTERVAL/],
  [{ OTEL_SDK_DISABLED: "maybe" }, /OTEL_SDK_DISABLED/],
])("a wrong setting is named at startup: %o", (settings, named) => {
  expect(() => readEnv(settings)).toThrow(named);
});
