import { Badge } from "#components/ui/badge";
import { DISPLAY_CLASS } from "#lib/contract/display-class";
import type { FinalDisplayState, StatusReason } from "#lib/contract/status";

/** The labels of states. */
export const LABELS: Record<FinalDisplayState, string> = {
  open: "Open",
  closed: "Closed",
  unknown: "Unknown",
  open_data_stale: "Stale",
  late_open_data_stale: "Late open",
  open_data_missing: "No data",
  not_offered: "Not offered",
};

/** The state of a market in one word; the reason as the contract names it on hover. */
export function StatusBadge({ state, reason }: { state: FinalDisplayState; reason: StatusReason | null }) {
  return (
    <Badge tone={DISPLAY_CLASS[state]} title={(reason ?? state).replaceAll("_", " ")}>
      {LABELS[state]}
    </Badge>
  );
}
