import type { FeedBucket, HealthBucket } from "#lib/contract/service-status";
import { durationText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";

/** A period of REST, of streams or of a feed. */
export type Bar = HealthBucket | FeedBucket;

/** What a bar shows. */
export type BarState = "operational" | "degraded" | "down" | "closed" | "no_data" | "not_bound";

/** The states in words. */
export const BAR_WORDS: Readonly<Record<BarState, string>> = {
  operational: "operational",
  degraded: "degraded",
  down: "down",
  closed: "market closed",
  no_data: "no data",
  not_bound: "not bound",
};

const NO_FEED = { idle: 0, not_bound: 0 };
const time = (minutes: number) => durationText(minutes * MINUTE_MS);

/** A period in numbers of minutes. REST and streams are healthy or down; only prices can be late. */
function countsOf(bar: Bar) {
  const { minutes, well, idle, not_bound, down } = { ...NO_FEED, down: bar.minutes - bar.well, ...bar };
  return { minutes, well, idle, not_bound, down, expected: minutes - idle };
}

/** The state of a bar, and its text. @param wholeMinutes how many it has when none is missing */
export function barOf(bar: Bar, wholeMinutes: number): { readonly state: BarState; readonly words: string } {
  const { minutes, well, not_bound, down, expected } = countsOf(bar);
  const missing = minutes < wholeMinutes ? ", no data for the rest" : "";
  const plain = (state: BarState, of: number) => {
    return { state, words: missing === "" ? BAR_WORDS[state] : `${BAR_WORDS[state]} for ${time(of)}${missing}` };
  };
  if (minutes === 0) return { state: "no_data", words: BAR_WORDS.no_data };
  if (not_bound === minutes) return plain("not_bound", not_bound);
  if (expected === 0) return plain("closed", minutes);
  if (well === expected) return plain("operational", well);
  if (down === expected) return plain("down", down);
  const parts = [`operational for ${time(well)} of ${time(expected)}`, ...(down === 0 ? [] : [`down for ${time(down)}`])];
  return { state: "degraded", words: parts.join(", ") };
}

/** So long after a start, nothing that was watched says nothing yet. */
const FIRST_MINUTES = 10;

/** Availability over the recorded time. */
export function summaryOf(bars: readonly Bar[]): string {
  const sum = { minutes: 0, well: 0, not_bound: 0, expected: 0 };
  for (const bar of bars) {
    const { minutes, well, not_bound, expected } = countsOf(bar);
    sum.minutes += minutes;
    sum.well += well;
    sum.not_bound += not_bound;
    sum.expected += expected;
  }
  if (sum.minutes === 0) return BAR_WORDS.no_data;
  if (sum.not_bound === sum.minutes) return BAR_WORDS.not_bound;
  if (sum.expected === 0) return BAR_WORDS.closed;
  if (sum.well === 0 && sum.minutes < FIRST_MINUTES) return `recording started ${time(sum.minutes)} ago`;
  const share = (100 * sum.well) / sum.expected;
  return `${share === 100 ? "100" : share.toFixed(2)}% of ${durationText(sum.expected * MINUTE_MS)} recorded`;
}
