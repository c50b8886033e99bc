import { SECOND_MS } from "#lib/units";

const WINDOW_S = 10;

/** Counts events of the last ten seconds, in a bucket per second. */
export interface Rate {
  /** @param at Unix milliseconds */
  count(at: number): void;
  /** Events per second over the last ten seconds. */
  perSecond(at: number): number;
}

/** Creates a counter without events. */
export function createRate(): Rate {
  const buckets = Array.from({ length: WINDOW_S }, () => ({ second: -1, events: 0 }));
  const secondOf = (at: number) => Math.floor(at / SECOND_MS);
  return {
    count(at) {
      const second = secondOf(at);
      const place = second % WINDOW_S;
      const bucket = buckets[place];
      buckets[place] = { second, events: bucket?.second === second ? bucket.events + 1 : 1 };
    },
    perSecond(at) {
      const oldest = secondOf(at) - WINDOW_S + 1;
      return buckets.reduce((sum, { second, events }) => sum + (second >= oldest ? events : 0), 0) / WINDOW_S;
    },
  };
}
