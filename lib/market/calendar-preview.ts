import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import {
  type AdminOverride,
  type CalendarPreview,
  PREVIEW_DAYS,
  PREVIEW_SESSIONS_MAX_COUNT,
  type PreviewSession,
} from "#lib/contract/portal-admin";
import { type Calendar, compileCalendar } from "#lib/domain/calendar";
import { HOUR_MS } from "#lib/units";

const PREVIEW_MS = PREVIEW_DAYS * 24 * HOUR_MS;

const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

/** Converts an open range (Unix ms) to a session of the preview. */
export function toldSession({ openMs, closeMs }: { openMs: number; closeMs: number }): PreviewSession {
  return { opens_at: iso(openMs), closes_at: iso(closeMs) };
}

/** Collects sessions hour by hour, so that a calendar that flips each second stops early; null when the calendar gives null. */
function firstSessions(calendar: Calendar, fromMs: number, endMs: number): { openMs: number; closeMs: number }[] | null {
  const sessions: { openMs: number; closeMs: number }[] = [];
  for (let hourMs = fromMs; hourMs < endMs && sessions.length <= PREVIEW_SESSIONS_MAX_COUNT; hourMs += HOUR_MS) {
    const found = calendar.sessionsBetween(hourMs, Math.min(hourMs + HOUR_MS, endMs));
    if (found === null) return null;
    for (const { openMs, closeMs } of found) {
      const last = sessions.at(-1);
      if (last?.closeMs === openMs) last.closeMs = closeMs;
      else sessions.push({ openMs, closeMs });
    }
  }
  return sessions;
}

/**
 * Previews the two weeks from `fromMs` (Unix ms) for a definition and overrides that are not stored yet, and the state at `nowMs`, with
 * the sessions since `sinceMs`, so that the part of the first day that is over is drawn too.
 */
export function previewCalendar(
  definition: CalendarDefinitionSchema,
  overrides: readonly AdminOverride[],
  nowMs: number,
  sinceMs = nowMs,
  fromMs = nowMs,
): CalendarPreview {
  const spans = overrides.map(({ state, starts_at, ends_at }) => ({
    state,
    fromMs: Date.parse(starts_at),
    untilMs: ends_at === null ? null : Date.parse(ends_at),
  }));
  const calendar = compileCalendar(definition, spans);
  const { state, reason, nextOpen, nextClose } = calendar.sessionAt(nowMs);
  const sessions = firstSessions(calendar, sinceMs, fromMs + PREVIEW_MS);
  return {
    now: { state, reason, next_open_at: isoOrNull(nextOpen), next_close_at: isoOrNull(nextClose) },
    sessions: sessions?.slice(0, PREVIEW_SESSIONS_MAX_COUNT).map(toldSession) ?? null,
    sessions_cut: sessions !== null && sessions.length > PREVIEW_SESSIONS_MAX_COUNT,
  };
}
