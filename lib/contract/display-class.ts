/** Every state a badge can show. The schema is in `status.ts`, so that pages which only draw badges do not load it. */
export const FINAL_DISPLAY_STATES = [
  "open",
  "closed",
  "unknown",
  "open_data_stale",
  "late_open_data_stale",
  "open_data_missing",
  "not_offered",
] as const;
export type FinalDisplayState = (typeof FINAL_DISPLAY_STATES)[number];

/** How a badge should look: closed, unknown and not offered are neutral, never an alarm. */
export const DISPLAY_CLASS = {
  open: "positive",
  closed: "neutral",
  unknown: "neutral",
  open_data_stale: "warning",
  late_open_data_stale: "warning",
  open_data_missing: "warning",
  not_offered: "neutral",
} as const satisfies Record<FinalDisplayState, "positive" | "neutral" | "warning">;
