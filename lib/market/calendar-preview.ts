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

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** A range (Unix ms) in which a market is open. */
interface OpenRange {
  readonly openMs: number;
  closeMs: number;
}

/** Converts the open ranges between two instants (Unix ms) to sessions: one that goes on before or after them gets its own ends. */
export function toldSessions(
  calendar: Calendar,
  ranges: readonly Readonly<OpenRange>[],
  fromMs: number,
  toMs: number,
): PreviewSession[] {
  return ranges.map(({ openMs, closeMs }) => ({
    opens_at: iso(openMs > fromMs ? openMs : calendar.sessionAt(fromMs).openedAt),
    closes_at: iso(closeMs < toMs ? closeMs : calendar.sessionAt(toMs - 1).nextClose),
  }));
}

/** Collects sessions hour by hour, so that a calendar that flips each second stops early; null when the calendar gives null. */
function firstSessions(calendar: Calendar, fromMs: number, endMs: number): OpenRange[] | null {
  const sessions: OpenRange[] = [];
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
  const toMs = fromMs + PREVIEW_MS;
  const ranges = firstSessions(calendar, sinceMs, toMs);
  return {
    now: { state, reason, next_open_at: iso(nextOpen), next_close_at: iso(nextClose) },
    sessions: ranges && toldSessions(calendar, ranges.slice(0, PREVIEW_SESSIONS_MAX_COUNT), sinceMs, toMs),
    sessions_cut: ranges !== null && ranges.length > PREVIEW_SESSIONS_MAX_COUNT,
  };
}
