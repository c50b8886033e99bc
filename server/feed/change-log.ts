import type { Clock } from "#lib/clock";
import type { PrecedenceChange } from "#lib/contract/portal-feeds";
import { SECOND_MS } from "#lib/units";
import type { Change } from "./precedence";

/** Changes of several tickers within this time are one. */
const TOGETHER_MS = 10 * SECOND_MS;
const KEPT_COUNT = 20;
/** How many tickers of a change are named. */
const NAMED_MAX_COUNT = 10;

/** The same change of several tickers. */
export interface ChangeGroup extends Pick<Change, "from" | "to" | "reason"> {
  readonly atMs: number;
  readonly tickers: Set<string>;
  /** When the first of them was last known to be well. */
  wellMs: number;
}

const shown = ({ from, to, reason, atMs, tickers }: ChangeGroup): PrecedenceChange => ({
  at: new Date(atMs).toISOString(),
  from: from ?? null,
  to,
  reason,
  tickers: tickers.size,
  some: [...tickers].slice(0, NAMED_MAX_COUNT),
});

/** Gathers the changes of many tickers, so that each change of a provider is reported once. */
export function createChangeLog(clock: Clock, report: (change: PrecedenceChange, group: ChangeGroup) => void) {
  let reported: ChangeGroup[] = [];
  let gathering: ChangeGroup[] = [];

  /** Reports those that are complete. */
  function flush(untilMs = clock.now() - TOGETHER_MS): void {
    const complete = gathering.filter(({ atMs }) => atMs <= untilMs);
    gathering = gathering.filter(({ atMs }) => atMs > untilMs);
    reported = [...reported, ...complete].slice(-KEPT_COUNT);
    for (const group of complete) report(shown(group), group);
  }

  return {
    add({ ticker, from, to, reason, wellMs }: Change): void {
      let group = gathering.find((one) => one.from === from && one.to === to && one.reason === reason);
      if (group === undefined) {
        group = { from, to, reason, atMs: clock.now(), tickers: new Set(), wellMs };
        gathering.push(group);
      }
      group.tickers.add(ticker);
      group.wellMs = Math.min(group.wellMs, wellMs);
    },
    flush,
    /** Reports all, because nobody will later. */
    end: () => flush(Number.POSITIVE_INFINITY),
    /** The newest first. */
    list: (): PrecedenceChange[] => [...reported, ...gathering].slice(-KEPT_COUNT).reverse().map(shown),
  };
}
