"use client";

import type { KeptTicks } from "#lib/contract/portal-feeds";
import { countText } from "../portal/numbers";

/** Whether the ticks of a venue are kept. */
export function KeptTicksView({ kept }: { kept: KeptTicks | null }) {
  return (
    <div className="space-y-1 bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="text-sm">
          <span className="font-medium">Every tick</span> {kept === null ? "is not kept" : "is kept"}
        </h3>
        {kept === null ? <p className="text-ink-faint text-xs leading-5">FEED_RECORD=on keeps them</p> : null}
      </div>
      {kept === null || kept.left_out === 0 ? null : (
        <p className="text-danger text-sm">
          {countText(kept.left_out)} {kept.left_out === 1 ? "tick was" : "ticks were"} left out since startup, because the
          database was unavailable for too long
        </p>
      )}
    </div>
  );
}
