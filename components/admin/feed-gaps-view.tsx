"use client";

import { FEED_GAPS_HOURS, type FeedGap, type FeedGaps } from "#lib/contract/portal-admin";
import { durationText } from "#lib/duration";
import { HOUR_MS, SECOND_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { Instant } from "../portal/time";

const SPAN_MS = FEED_GAPS_HOURS * HOUR_MS;
/** The drawing has one unit per minute. */
const WIDTH = FEED_GAPS_HOURS * 60;
const HEIGHT = 24;
/** The minimum width of a gap. */
const BAR_MIN_WIDTH = 6;
/** Gaps listed below the strip; the rest is collapsed. */
const SHOWN_MAX_COUNT = 3;

/** The last day as a strip, with its gaps and the time before anything was recorded. */
function Strip({ items, since, until }: FeedGaps) {
  const nowMs = Date.parse(until);
  const from = nowMs - SPAN_MS;
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - from) / SPAN_MS)) * WIDTH;
  const known = at(Date.parse(since));
  return (
    <div>
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-6 w-full rounded bg-positive/25"
      >
        {known === 0 ? null : <rect x="0" width={known} y="0" height={HEIGHT} className="fill-sunken" />}
        {items.map(({ starts_at, ends_at }) => {
          const start = at(Date.parse(starts_at));
          const width = Math.max(BAR_MIN_WIDTH, at(ends_at === null ? nowMs : Date.parse(ends_at)) - start);
          return (
            <rect
              key={starts_at}
              x={Math.min(start, WIDTH - width)}
              width={width}
              y="0"
              height={HEIGHT}
              className="fill-warning"
            />
          );
        })}
      </svg>
      <div aria-hidden="true" className="mt-1 flex justify-between text-ink-faint text-xs leading-5">
        <span>{FEED_GAPS_HOURS} h ago</span>
        <span>now</span>
      </div>
    </div>
  );
}

function Lines({ items }: { items: readonly FeedGap[] }) {
  return (
    <ul className="space-y-1 text-sm">
      {items.map(({ starts_at, ends_at, length_s }) => (
        <li key={starts_at} className="flex flex-wrap justify-between gap-x-4">
          <span>
            <Instant at={starts_at} /> – {ends_at === null ? "ongoing" : <Instant at={ends_at} />}
          </span>
          <span className="font-mono text-[13px] text-ink-soft tabular-nums">{durationText(length_s * SECOND_MS)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The times of the last day in which a feed was silent although a market was open. */
export function FeedGapsView({ gaps }: { gaps: FeedGaps }) {
  const { count, total_s, items, since, until, threshold_s } = gaps;
  const rest = items.slice(SHOWN_MAX_COUNT);
  const whole = Date.parse(since) <= Date.parse(until) - SPAN_MS;
  return (
    <div className="space-y-3 bg-surface p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <h3 className="text-sm">
          <span className="font-medium">Gaps</span>{" "}
          {count === 0 ? "none" : `${countText(count)}, ${durationText(total_s * SECOND_MS)} in total`}
        </h3>
        <p className="text-ink-faint text-xs leading-5">
          No ticks for {durationText(threshold_s * SECOND_MS)} or longer while a market was open
        </p>
      </div>
      <Strip {...gaps} />
      {items.length === 0 ? null : <Lines items={items.slice(0, SHOWN_MAX_COUNT)} />}
      {rest.length === 0 ? null : (
        <details className="text-sm">
          <summary className="mb-1 cursor-pointer text-ink-soft hover:text-ink">
            {countText(count - SHOWN_MAX_COUNT)} more
          </summary>
          <Lines items={rest} />
          {count > items.length ? <p className="mt-1 text-ink-faint">Showing the newest {countText(items.length)}.</p> : null}
        </details>
      )}
      {whole ? null : (
        <p className="text-ink-faint text-xs leading-5">
          Recorded since <Instant at={since} />.
        </p>
      )}
    </div>
  );
}
