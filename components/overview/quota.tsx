import type { Overview } from "#lib/contract/portal";
import { countText } from "../portal/numbers";

/** From this share of the limit on, the gauge warns. */
const HIGH_SHARE = 0.8;

/** How much of the account's REST limit is used at this moment. */
export function Quota({ limits }: { limits: Overview["limits"] }) {
  const { plan, rest_per_minute: most, rest_remaining, stream_connections } = limits;
  const used = Math.min(most, Math.max(0, most - rest_remaining));
  const share = most === 0 ? 0 : used / most;
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <span className="font-medium">
          {countText(used)} of {countText(most)} units used
        </span>
        <span className="text-ink-faint tabular-nums">{Math.round(share * 100)} %</span>
      </div>
      <meter aria-label="REST quota used" className="sr-only" min={0} max={most} value={used} />
      <div aria-hidden="true" className="mt-3 h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className={`h-full rounded-full ${share >= HIGH_SHARE ? "bg-warning" : "bg-accent"}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p className="mt-3 text-ink-faint text-xs leading-5">
        Per minute on plan {plan}, shared by all keys. Up to {countText(stream_connections)} stream connections at once.
      </p>
    </div>
  );
}
