import type { Clock } from "#lib/clock";
import type { PrecedenceChange } from "#lib/contract/portal-feeds";
import { SECOND_MS } from "#lib/units";
import type { Change } from "./precedence";

/** Changes of several tickers within this time are one. */
const TOGETHER_MS = 10 * SECOND_MS;
const KEPT_COUNT = 20;
/** How many tickers of a change are named. */
const NAMED_MAX_COUNT = 10;

interface Group extends Pick<Change, "from" | "to" | "reason"> {
  readonly atMs: number;
  readonly tickers: Set<string>;
  /** Tickers that have changed too often: their speaker stays. */
  readonly held: Set<string>;
  reported: boolean;
}

const shown = ({ from, to, reason, atMs, tickers, held }: Group): PrecedenceChange => ({
  at: new Date(atMs).toISOString(),
  ...{ from: from ?? null, to, reason, tickers: tickers.size, held: held.size },
  some: [...tickers].slice(0, NAMED_MAX_COUNT),
});

/** Gathers the changes of many tickers, so that each change of a provider is reported once. */
export function createChangeLog(clock: Clock, report: (change: PrecedenceChange) => void) {
  let groups: Group[] = [];

  /** Reports those that are complete. */
  function flush(untilMs = clock.now() - TOGETHER_MS): void {
    for (const group of groups) {
      if (group.reported || group.atMs > untilMs) continue;
      group.reported = true;
      report(shown(group));
    }
    groups = groups.filter(({ reported }, at) => !reported || at >= groups.length - KEPT_COUNT);
  }

  return {
    add({ ticker, from, to, reason }: Change, held: boolean): void {
      const isSame = (one: Group) => one.from === from && one.to === to && one.reason === reason && !one.reported;
      let group = groups.find(isSame);
      if (group === undefined) {
        group = { from, to, reason, atMs: clock.now(), tickers: new Set(), held: new Set(), reported: false };
        groups.push(group);
      }
      group.tickers.add(ticker);
      if (held) group.held.add(ticker);
    },
    flush,
    /** Reports all, because nobody will later. */
    end: () => flush(Number.POSITIVE_INFINITY),
    /** The newest first. */
    list: (): PrecedenceChange[] => groups.slice(-KEPT_COUNT).reverse().map(shown),
  };
}
