import { expect, test } from "vitest";
import { INCIDENTS_MAX_COUNT, type IncidentNote } from "#lib/contract/uptime";
import { statusFeed } from "./status-feed";

const BASE = "https://prices.example.com";
const NOTE: IncidentNote = {
  id: "01890000-0000-7000-8000-000000000001",
  title: "Prices & <spreads>",
  text: "We switched\u0007 providers.",
  impact: "degraded",
  starts_at: "2026-01-05T10:00:00.000Z",
  ends_at: null,
  updated_at: "2026-01-05T10:30:00.000Z",
};

test("the status feed lists incidents and notes with stable ids, the last change first, and escapes what an operator wrote", () => {
  const from_ms = Date.UTC(2026, 0, 5, 9);
  const feed = statusFeed(BASE, { incidents: [{ part: "rest", from_ms, until_ms: from_ms + 420_000 }], notes: [NOTE] });
  expect(Array.from(feed.matchAll(/<entry><id>([^<]+)/g), ([, id]) => id)).toEqual([
    `${BASE}/status#note-${NOTE.id}`,
    `${BASE}/status#rest-${from_ms}`,
  ]);
  expect(feed).toContain("<title>Prices &amp; &lt;spreads&gt;</title>");
  expect(feed).toContain("We switched providers.");
  expect(feed).toContain("From 2026-01-05T09:00:00.000Z for 7 min.");
  expect(feed).toContain("<updated>2026-01-05T10:30:00.000Z</updated>\n");
});

test("the status feed has at most INCIDENTS_MAX_COUNT entries", () => {
  const incidents = Array.from({ length: INCIDENTS_MAX_COUNT }, (_, index) => ({
    part: "rest" as const,
    from_ms: index * 3_600_000,
    until_ms: index * 3_600_000 + 60_000,
  }));
  expect(statusFeed(BASE, { incidents, notes: [NOTE] }).match(/<entry>/g)).toHaveLength(INCIDENTS_MAX_COUNT);
});
