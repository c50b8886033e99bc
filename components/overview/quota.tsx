import type { ReactNode } from "react";
import type { Overview } from "#lib/contract/portal";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";

/** From this share of the limit on, the gauge warns. */
const HIGH_SHARE = 0.8;

interface GaugeProps {
  readonly used: number;
  readonly most: number;
  readonly label: string;
  readonly note: ReactNode;
}

/** A share of what there is. */
function Gauge({ used, most, label, note }: GaugeProps) {
  const share = most === 0 ? 0 : Math.min(1, used / most);
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <span className="font-medium">
          {countText(used)} of {countText(most)} units used
        </span>
        <span className="text-ink-faint tabular-nums">{Math.floor((used / Math.max(1, most)) * 100)}%</span>
      </div>
      <meter aria-label={label} className="sr-only" min={0} max={most} value={Math.min(used, most)} />
      <div aria-hidden="true" className="mt-3 h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className={`h-full rounded-full ${share >= HIGH_SHARE ? "bg-warning" : "bg-accent"}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p className="mt-3 text-ink-faint text-xs leading-5">{note}</p>
    </div>
  );
}

/** How much of the account's month is used; nothing for a plan without a quota. */
export function MonthQuota({ month }: { month: Overview["month"] }) {
  const { used, units, hard, resets_at } = month;
  if (units === null)
    return (
      <p className="rounded-lg border border-line bg-surface p-4 text-sm">
        {countText(used)} units used. Your plan has no monthly quota.
      </p>
    );
  const left = countText(Math.max(0, units - used));
  const note = (
    <>
      {left} left until <Instant at={resets_at} />.{" "}
      {hard ? "Requests beyond it are refused." : "Requests beyond it are only counted."}
    </>
  );
  return <Gauge used={used} most={units} label="Monthly quota used" note={note} />;
}

/** How much of the account's REST limit is used at this moment. */
export function Quota({ limits }: { limits: Overview["limits"] }) {
  const { plan, rest_per_minute: most, rest_burst, rest_remaining, stream_connections } = limits;
  const used = Math.min(most, Math.max(0, most - rest_remaining));
  const note = `Per minute on plan ${plan}, shared by all keys, and at most ${countText(rest_burst)} at once: the burst limit. Up to ${countText(stream_connections)} stream connections at once.`;
  return <Gauge used={used} most={most} label="REST quota used" note={note} />;
}
