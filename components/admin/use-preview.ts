"use client";

import { useEffect, useState } from "react";
import type { AdminCalendar, CalendarPreview } from "#lib/contract/portal-admin";
import { type ApiFailure, type ApiResult, callPortal } from "../portal/api";

/** What a definition would say of the coming fortnight, with the overrides that the calendar has now. */
export function previewOf(name: string, definition: unknown): Promise<ApiResult<CalendarPreview>> {
  return callPortal<CalendarPreview>("POST", `admin/calendars/${encodeURIComponent(name)}/preview`, { definition });
}

interface StoredPreview {
  readonly preview: CalendarPreview | undefined;
  readonly failure: ApiFailure | undefined;
}

/** The same for a calendar as it is stored; asked again whenever the calendar was read again. */
export function usePreview(calendar: AdminCalendar): StoredPreview {
  const [result, setResult] = useState<ApiResult<CalendarPreview>>();
  useEffect(() => {
    let overtaken = false;
    void previewOf(calendar.name, calendar.definition).then((answer) => {
      if (!overtaken) setResult(answer);
    });
    return () => {
      overtaken = true;
    };
  }, [calendar]);
  return {
    preview: result !== undefined && "data" in result ? result.data : undefined,
    failure: result !== undefined && "failure" in result ? result.failure : undefined,
  };
}
