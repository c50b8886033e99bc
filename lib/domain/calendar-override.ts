import type { CalendarOverride } from "./calendar-definition";
import type { StateRange, Timeline } from "./calendar-timeline";

/** Overrides as disjoint ranges, ascending; where several overlap, the one that started last wins, then the last listed. */
function covers(overrides: readonly CalendarOverride[]): StateRange[] {
  const ranges = overrides
    .map(({ state, fromMs, untilMs }) => ({ state, fromMs, untilMs: untilMs ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.fromMs - b.fromMs);
  const edges = [...new Set(ranges.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]))].sort((a, b) => a - b);
  return edges.flatMap((fromMs, index) => {
    const winner = ranges.findLast((range) => range.fromMs <= fromMs && fromMs < range.untilMs);
    // None covers the last edge.
    const untilMs = edges[index + 1] ?? fromMs;
    return winner === undefined ? [] : [{ state: winner.state, fromMs, untilMs }];
  });
}

/** Applies an operator's overrides to a timeline: they win wherever they apply, including unknown times. */
export function overridden(base: Timeline, overrides: readonly CalendarOverride[]): Timeline {
  const layer = covers(overrides);
  const coverAt = (atMs: number) => layer.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
  return {
    at(atMs) {
      const cover = coverAt(atMs);
      if (cover !== undefined) return cover;
      const { state, fromMs, untilMs } = base.at(atMs);
      const before = layer.findLast((other) => other.untilMs <= atMs);
      const after = layer.find((other) => other.fromMs > atMs);
      return { state, fromMs: Math.max(fromMs, before?.untilMs ?? fromMs), untilMs: Math.min(untilMs, after?.fromMs ?? untilMs) };
    },
    why(atMs) {
      const cover = coverAt(atMs);
      if (cover === undefined) return base.why(atMs);
      return { reason: cover.state === "closed" ? "operator_override" : null, source: "operator_override" };
    },
  };
}
