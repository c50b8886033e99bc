"use client";

import type { HeldBackReason, HeldBackTicks } from "#lib/contract/portal-feeds";
import { MINUTE_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";

const REASONS: Record<HeldBackReason, string> = {
  bad_price: "No price",
  crossed_quote: "Bid above ask",
  market_closed: "Market closed",
  spike: "Far from the prices before",
  volume_out_of_range: "Volume too large",
  implausible_price: "Not a price of this pair",
};

/** The ticks that were kept out because they cannot be true. */
export function HeldBackView({ held }: { held: HeldBackTicks }) {
  const { counts, wide, newest } = held;
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <div className="space-y-3 bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="text-sm">
          <span className="font-medium">Ticks held back</span> {total === 0 ? "none" : countText(total)}
        </h3>
        <p className="text-ink-faint text-xs leading-5">
          Since startup{wide === 0 ? null : ` · ${countText(wide)} more with a wide spread were taken`}
        </p>
      </div>
      {counts.length === 0 ? null : (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {counts.map(({ reason, count }) => (
            <li key={reason}>
              {REASONS[reason]} <span className="text-ink-soft tabular-nums">{countText(count)}</span>
            </li>
          ))}
        </ul>
      )}
      {newest.length === 0 ? null : (
        <details className="text-sm">
          <summary className="mb-1 cursor-pointer text-ink-soft hover:text-ink">
            {newest.length === 1 ? "The last one" : `The last ${countText(newest.length)}`}
          </summary>
          <ul className="max-h-80 space-y-1 overflow-y-auto">
            {newest.map(({ at_ms, ticker, time_msc, bid, ask, reason, looks_like }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two of them may be the same
              <li key={`${at_ms} ${at}`} className="flex flex-wrap justify-between gap-x-4">
                <span>
                  <Instant at={new Date(at_ms).toISOString()} to="second" /> <span className="font-medium">{ticker}</span>{" "}
                  <span className="text-ink-soft">
                    {REASONS[reason]}
                    {looks_like === null ? null : `, looks like ${looks_like}`}
                  </span>
                </span>
                <span className="font-mono text-[13px] text-ink-soft tabular-nums [overflow-wrap:anywhere]">
                  {bid} / {ask}
                  {Math.abs(at_ms - time_msc) < MINUTE_MS ? null : (
                    <>
                      {" "}
                      of <Instant at={new Date(time_msc).toISOString()} to="second" />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
