import type { ClockEvidence, Run } from "./clock-evidence";
import { isoDay, type SourceClock } from "./clock-zone";

/** What a clock does with the runs of a file: true where it puts one into closed hours. */
export interface ClosedRuns {
  readonly clock: SourceClock;
  readonly closed: readonly boolean[];
}

/** A server that changed its clock: both, and the day from which the second one applies, on the clock of the file. */
interface Move {
  readonly before: SourceClock;
  readonly after: SourceClock;
  readonly day: string;
}

/** Closed runs from the start up to each run, exclusive. */
function sums(closed: readonly boolean[]): number[] {
  const all = [0];
  for (const one of closed) all.push((all[all.length - 1] as number) + Number(one));
  return all;
}

/** The two clocks that fit one after the other, where no single one does: the change with the fewest runs in closed hours. */
export function findMove(fits: readonly ClosedRuns[], { runs, weekends }: ClockEvidence, mostClosed: number): Move | null {
  const counted = fits.map(({ clock, closed }) => ({ clock, sums: sums(closed) }));
  const splits = weekends.map(({ openMs }) => runs.findIndex(({ fromMs }) => fromMs === openMs)).filter((index) => index > 0);
  let best: { move: Move; cost: number } | null = null;
  for (const before of counted)
    for (const after of counted) {
      if (before === after) continue;
      for (const split of splits) {
        const cost = (before.sums[split] as number) + (after.sums[runs.length] as number) - (after.sums[split] as number);
        if (cost > mostClosed || (best !== null && cost >= best.cost)) continue;
        const between = ((runs[split - 1] as Run).untilMs + (runs[split] as Run).fromMs) / 2;
        best = { move: { before: before.clock, after: after.clock, day: isoDay(between) }, cost };
      }
    }
  return best?.move ?? null;
}
