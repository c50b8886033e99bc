import { describe, expect, test } from "vitest";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { type AdminOverride, PREVIEW_SESSIONS_MAX_COUNT } from "#lib/contract/portal-admin";
import { HOUR_MS, HOUR_S } from "#lib/units";
import { previewCalendar } from "./calendar-preview";

/** A Wednesday noon, UTC. */
const NOW_MS = Date.UTC(2026, 0, 7, 12);
const iso = (ms: number) => new Date(ms).toISOString();

const OFFICE = CalendarDefinitionSchema.parse({
  kind: "weekly",
  zone: "UTC",
  week: [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day, open: "00:00", close: day === 6 ? "12:00" : "24:00" })),
  holidays: [],
  earlyCloses: {},
  lateOpens: {},
  coveredUntil: "2026-12-31",
});
const cycle = (openS: number, closedS: number) => ({ kind: "cycle", anchorS: 0, openS, closedS }) as const;
const halt: AdminOverride = { id: "", state: "closed", starts_at: iso(NOW_MS), ends_at: iso(NOW_MS + HOUR_MS), note: "" };

describe("calendar preview", () => {
  test("a preview shows the current state and the sessions, with one entry for a session over midnight", () => {
    const preview = previewCalendar(OFFICE, [], NOW_MS);
    expect(preview).toMatchObject({
      now: { state: "open", reason: null, next_close_at: "2026-01-10T12:00:00.000Z", next_open_at: "2026-01-11T00:00:00.000Z" },
      sessions_cut: false,
    });
    expect(preview.sessions).toEqual([
      { opens_at: "2026-01-04T00:00:00.000Z", closes_at: "2026-01-10T12:00:00.000Z" },
      { opens_at: "2026-01-11T00:00:00.000Z", closes_at: "2026-01-17T12:00:00.000Z" },
      { opens_at: "2026-01-18T00:00:00.000Z", closes_at: "2026-01-24T12:00:00.000Z" },
    ]);
  });

  test("a session without an end has none, before and after", () => {
    const { sessions } = previewCalendar({ kind: "always" }, [], NOW_MS);
    expect(sessions).toEqual([{ opens_at: null, closes_at: null }]);
    const cut = previewCalendar({ kind: "always" }, [halt], NOW_MS).sessions;
    expect(cut).toEqual([{ opens_at: iso(NOW_MS + HOUR_MS), closes_at: null }]);
  });

  test("a preview shows the part of today that is over as it was", () => {
    const sinceMs = NOW_MS - 24 * HOUR_MS;
    const { sessions } = previewCalendar(OFFICE, [halt], NOW_MS, sinceMs);
    expect(sessions?.[0]).toEqual({ opens_at: "2026-01-04T00:00:00.000Z", closes_at: iso(NOW_MS) });
    expect(sessions?.at(-1)).toEqual(previewCalendar(OFFICE, [halt], NOW_MS).sessions?.at(-1));
  });

  test("a preview applies overrides", () => {
    const { now, sessions } = previewCalendar(OFFICE, [halt], NOW_MS);
    expect(now).toMatchObject({ state: "closed", reason: "operator_override", next_open_at: iso(NOW_MS + HOUR_MS) });
    expect(sessions?.[0]?.opens_at).toBe(iso(NOW_MS + HOUR_MS));
  });

  test("a preview past the covered day has no sessions", () => {
    expect(previewCalendar(OFFICE, [], Date.UTC(2026, 11, 25))).toMatchObject({ sessions: null, sessions_cut: false });
  });

  test.each([
    { name: "each minute", openS: 30, closedS: 30 },
    { name: "each second", openS: 1, closedS: 1 },
  ])("the preview of a calendar that opens $name is cut and marked as such", ({ openS, closedS }) => {
    const { sessions, sessions_cut } = previewCalendar(cycle(openS, closedS), [], NOW_MS);
    expect(sessions).toHaveLength(PREVIEW_SESSIONS_MAX_COUNT);
    expect(sessions_cut).toBe(true);
    const periodMs = (openS + closedS) * 1_000;
    const lastMs = NOW_MS + (PREVIEW_SESSIONS_MAX_COUNT - 1) * periodMs;
    expect(sessions?.at(-1)).toEqual({ opens_at: iso(lastMs), closes_at: iso(lastMs + openS * 1_000) });
  });

  test("a preview with as many sessions as allowed is complete", () => {
    const periodS = (14 * 24 * HOUR_S) / PREVIEW_SESSIONS_MAX_COUNT;
    const { sessions, sessions_cut } = previewCalendar(cycle(periodS / 2, periodS / 2), [], periodS * 1_000 * 10_000);
    expect(sessions).toHaveLength(PREVIEW_SESSIONS_MAX_COUNT);
    expect(sessions_cut).toBe(false);
  });
});
