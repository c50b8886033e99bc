import { type RateLimit, readRateLimit } from "#lib/client/rate-limit";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import type { Answer } from "./send";

/** Below this fraction of the limit the meter shows a warning. */
const LOW_PART = 0.2;

/** The remaining limit, from the response headers; undefined when they lack it. */
export function rateLimitOf({ headers }: Answer): RateLimit | undefined {
  const values = new Map(headers);
  return readRateLimit((name) => values.get(name));
}

/** What is left of the rate limit, as a bar and in words. */
export function RateMeter({ limit, remaining, resetS }: RateLimit) {
  const part = limit === 0 ? 0 : Math.min(1, remaining / limit);
  return (
    <div className="flex items-center gap-2 text-ink-faint text-xs">
      <meter aria-label="Rate limit left" min={0} max={limit} value={remaining} className="sr-only" />
      <div aria-hidden="true" className="h-1.5 w-20 overflow-hidden rounded-full bg-line">
        <div
          className={`h-full rounded-full ${part < LOW_PART ? "bg-warning" : "bg-positive"}`}
          style={{ width: `${part * 100}%` }}
        />
      </div>
      <span className="tabular-nums">
        {remaining} of {limit} left, resets in {durationText(resetS * SECOND_MS)}
      </span>
    </div>
  );
}

/** All response headers that a page may read. */
export function AnswerHeaders({ headers }: { headers: Answer["headers"] }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 rounded-lg border border-line bg-surface p-4 font-mono text-[13px] max-sm:grid-cols-1">
      {headers.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="[overflow-wrap:anywhere] max-sm:mb-1.5">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
