"use client";

import type { RecordingReport } from "#lib/contract/portal-feeds";
import { countText, sizeText } from "../portal/numbers";
import { Instant } from "../portal/time";

/** The recording of the ticks of a venue. */
export function RecordingView({ recording }: { recording: RecordingReport | null }) {
  const state = recording === null ? "off" : recording.active ? "on" : "on, by the process that takes the ticks";
  return (
    <div className="space-y-1 bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="text-sm">
          <span className="font-medium">Recording of ticks</span> {state}
        </h3>
        {recording === null ? (
          <p className="text-ink-faint text-xs leading-5">FEED_RECORD=on turns it on</p>
        ) : (
          <p className="text-ink-faint text-xs leading-5">
            {sizeText(recording.bytes)} of {sizeText(recording.max_bytes)}
            {recording.oldest_at === null ? null : (
              <>
                {" "}
                · oldest hour <Instant at={recording.oldest_at} to="minute" />
              </>
            )}{" "}
            · {countText(recording.days)} {recording.days === 1 ? "day" : "days"} kept
          </p>
        )}
      </div>
      {recording === null || (recording.problem === null && recording.left_out === 0) ? null : (
        <p className={`text-sm [overflow-wrap:anywhere] ${recording.problem === null ? "text-ink-soft" : "text-danger"}`}>
          {countText(recording.left_out)} {recording.left_out === 1 ? "tick is" : "ticks are"} left out since startup
          {recording.problem === null ? null : ` · ${recording.problem}`}
        </p>
      )}
    </div>
  );
}
