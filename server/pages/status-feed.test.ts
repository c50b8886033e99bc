import { expect, test } from "vitest";
import { INCIDENTS_MAX_COUNT, type IncidentNote } from "#lib/contract/uptime";
import { HOUR_MS } from "#lib/units";
import { statusFeed } from "./status-feed";

const BASE = "https://prices.example.com";
const NOTE: IncidentNote = {
  id: "01890000-0000-7000-8000-000000000001",
  key: "note-01890000-0000-7000-8000-000000000001",
  part: null,
  automatic: false,
  title: "Prices & <spreads>",
  text: "We switched\u0007 providers.",
  impact: "degraded",
  starts_at: "2026-01-05T10:00:00.000Z",
  ends_at: null,
  updated_at: "2026-01-05T10:30:00.000Z",
};

/** One that the service noticed. */
function noticed(fromMs: number, untilMs: number): IncidentNote {
  const at = { starts_at: new Date(fromMs).toISOString(), ends_at: new Date(untilMs).toISOString() };
  const about = { key: `rest-${fromMs}`, part: "rest", automatic: true, title: "REST down", text: "No response." } as const;
  return { ...NOTE, ...about, ...at, updated_at: at.ends_at };
}

test("the status feed lists incidents and notes with stable ids, the last change first, and escapes what an operator wrote", () => {
  const from_ms = Date.UTC(2026, 0, 5, 9);
  const feed = statusFeed(BASE, "Acme & Sons", {
    notes: [noticed(from_ms, from_ms + 420_000), NOTE],
  });
  expect(Array.from(feed.matchAll(/<entry><id>([^<]+)/g), ([, id]) => id)).toEqual([
    `${BASE}/status#note-${NOTE.id}`,
    `${BASE}/status#rest-${from_ms}`,
  ]);
  expect(feed).toContain("<title>Prices &amp; &lt;spreads&gt;</title>");
  expect(feed).toContain("<title>Acme &amp; Sons status</title><author><name>Acme &amp; Sons</name></author>");
  expect(feed).toContain("We switched providers.");
  expect(feed).toContain("No response.\n\nStarts 2026-01-05T09:00:00.000Z. Ends 2026-01-05T09:07:00.000Z.");
  expect(feed).toContain("<updated>2026-01-05T10:30:00.000Z</updated>\n");
});

test("the status feed has at most INCIDENTS_MAX_COUNT entries", () => {
  const hours = Array.from({ length: INCIDENTS_MAX_COUNT }, (_, hour) => noticed(hour * HOUR_MS, hour * HOUR_MS + 60_000));
  expect(statusFeed(BASE, "Acme & Sons", { notes: [...hours, NOTE] }).match(/<entry>/g)).toHaveLength(INCIDENTS_MAX_COUNT);
});
