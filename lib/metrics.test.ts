import { expect, test } from "vitest";
import { createMetrics } from "./metrics";

test("metrics are printed by operation, code, venue and outcome", async () => {
  const metrics = createMetrics();
  metrics.request("latestQuotes", 0, 0.001);
  metrics.request("latestQuotes", 42901, 0.001);
  metrics.authFailed();
  metrics.ticks("live", [null, null, "duplicate"]);
  metrics.recorderFlush("live", 12, false);
  const text = await metrics.registry.metrics();
  for (const line of [
    'spotwire_http_requests_total{operation="latestQuotes",code="0"} 1',
    'spotwire_http_requests_total{operation="latestQuotes",code="42901"} 1',
    "spotwire_rate_limited_total 1",
    "spotwire_auth_failures_total 1",
    'spotwire_ticks_total{venue="live",outcome="accepted"} 2',
    'spotwire_ticks_total{venue="live",outcome="duplicate"} 1',
    'spotwire_recorder_rows_total{venue="live",outcome="written"} 12',
    'spotwire_http_request_seconds_count{operation="latestQuotes"} 2',
  ])
    expect(text).toContain(line);
});
