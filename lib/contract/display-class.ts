import type { FinalDisplayState } from "./status";

/** How a badge should look: closed and unknown are neutral, never an alarm. */
export const DISPLAY_CLASS = {
  open: "positive",
  closed: "neutral",
  unknown: "neutral",
  open_data_stale: "warning",
  late_open_data_stale: "warning",
  open_data_missing: "warning",
} as const satisfies Record<FinalDisplayState, "positive" | "neutral" | "warning">;
