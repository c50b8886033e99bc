"use client";

import { useEffect, useState } from "react";
import { type ApiFailure, type ApiResult, callPortal } from "../portal/api";
import type { CalendarRow, Preview } from "./shapes";

/** What a definition would say of the coming fortnight, with the overrides that the calendar has now. */
export function previewOf(name: string, definition: unknown): Promise<ApiResult<Preview>> {
  return callPortal<Preview>("POST", `admin/calendars/${encodeURIComponent(name)}/preview`, { definition });
}

interface StoredPreview {
  readonly preview: Preview | undefined;
  readonly failure: ApiFailure | undefined;
}

/** The same for a calendar as it is stored; asked again whenever the calendar was read again. */
export function usePreview(calendar: CalendarRow): StoredPreview {
  const [result, setResult] = useState<ApiResult<Preview>>();
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
