import type { PlanForm } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";

/** What may be read of this form of permissions. */
function instrumentsText({ permissions }: Pick<PlanForm, "permissions">): string {
  if (permissions.kind === "all") return "all instruments";
  if (permissions.values.length === 0) return "no instruments";
  if (permissions.kind === "asset_classes") return permissions.values.join(" and ");
  const { length } = permissions.values;
  return length === 1 ? `${permissions.values[0]}` : `${countText(length)} instruments`;
}

/** What a plan includes besides its rates, in a few words each. */
export function termsOf(plan: PlanForm): string[] {
  const { month_units, month_hard, history_days, streams, live_access } = plan;
  return [
    month_units === null ? "no monthly quota" : `${countText(month_units)} units a month${month_hard ? "" : ", more is counted"}`,
    history_days === null
      ? "all of the history"
      : history_days === 1
        ? "1 day of history"
        : `${countText(history_days)} days of history`,
    instrumentsText(plan),
    live_access ? "sandbox and live" : "sandbox",
    streams ? "streams" : "no streams",
  ];
}
