import { SECOND_MS } from "#lib/units";

const WINDOW_S = 10;

/** Counts events of the last ten seconds, in a bucket per second: its memory does not grow. Times are Unix milliseconds. */
export interface Rate {
  /** @param events how many came at once */
  count(at: number, events?: number): void;
  /** Events per second over the last ten seconds, or since the first event; null before a second has passed. */
  perSecond(at: number): number | null;
}

/** Creates a counter without events. */
export function createRate(): Rate {
  const buckets = Array.from({ length: WINDOW_S }, () => ({ second: -1, events: 0 }));
  const secondOf = (at: number) => Math.floor(at / SECOND_MS);
  let since: number | undefined;
  return {
    count(at, events = 1) {
      since ??= at;
      const second = secondOf(at);
      const place = second % WINDOW_S;
      const bucket = buckets[place];
      buckets[place] = { second, events: bucket?.second === second ? bucket.events + events : events };
    },
    perSecond(at) {
      const overS = Math.min(WINDOW_S, (at - (since ?? at)) / SECOND_MS);
      const oldest = secondOf(at) - WINDOW_S + 1;
      return overS < 1 ? null : buckets.reduce((sum, { second, events }) => sum + (second >= oldest ? events : 0), 0) / overS;
    },
  };
}
