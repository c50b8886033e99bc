import type { UsageGrain, UsagePoint } from "#lib/contract/portal";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { queryOf } from "../portal/api";

/** The available time ranges, each with a suitable bucket size. */
export const SPANS = {
  "1h": { label: "Last hour", ms: HOUR_MS, grain: "minute" },
  "24h": { label: "Last 24 hours", ms: DAY_MS, grain: "hour" },
  "7d": { label: "Last 7 days", ms: 7 * DAY_MS, grain: "hour" },
  "30d": { label: "Last 30 days", ms: 30 * DAY_MS, grain: "day" },
  "90d": { label: "Last 90 days", ms: 90 * DAY_MS, grain: "day" },
} as const satisfies Record<string, { label: string; ms: number; grain: UsageGrain }>;
export type Span = keyof typeof SPANS;
const SPAN_DEFAULT: Span = "24h";

/** The selected filters; an empty text means "all". */
export interface UsageFilter {
  readonly span: Span;
  readonly keyId: string;
  readonly operation: string;
}

const isSpan = (text: string | null): text is Span => text !== null && Object.hasOwn(SPANS, text);

/** The filters in the address of the page; what it does not name is not filtered. */
export function filterOf(asked: Pick<URLSearchParams, "get">): UsageFilter {
  const span = asked.get("range");
  return { span: isSpan(span) ? span : SPAN_DEFAULT, keyId: asked.get("key_id") ?? "", operation: asked.get("operation") ?? "" };
}

/** The query of the page with these filters. */
export function addressOf({ span, keyId, operation }: UsageFilter): string {
  return queryOf({ range: span === SPAN_DEFAULT ? "" : span, key_id: keyId, operation });
}

/** The query of the filters at an instant (ms). */
export function usageQuery({ span, keyId, operation }: UsageFilter, nowMs: number): string {
  const { ms, grain } = SPANS[span];
  return queryOf({
    from: new Date(nowMs - ms).toISOString(),
    to: new Date(nowMs).toISOString(),
    grain,
    key_id: keyId,
    operation,
  });
}

/** The sum of all points, without latencies: percentiles do not add up. */
export function totals(points: readonly UsagePoint[]) {
  const sum = (field: "calls" | "units" | "errors" | "connections" | "subscriptions" | "messages" | "merged") =>
    points.reduce((total, point) => total + point[field], 0);
  return {
    calls: sum("calls"),
    units: sum("units"),
    errors: sum("errors"),
    connections: sum("connections"),
    subscriptions: sum("subscriptions"),
    messages: sum("messages"),
    merged: sum("merged"),
  };
}
