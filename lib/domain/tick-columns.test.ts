import fc from "fast-check";
import { expect, test } from "vitest";
import { MINUTE_MS } from "#lib/units";
import { foldTicks, pickTicks, TAKEN, type TickColumns } from "./tick-columns";

/** Ticks at these times, told apart by their bids. */
function ticksAt(times: readonly number[], source: string): TickColumns {
  const column = (values: readonly number[]) => Float64Array.from(values);
  const none = times.map(() => Number.NaN);
  return {
    time: column(times),
    bid: column(times.map((_, row) => row + 1)),
    ask: column(times.map((_, row) => row + 2)),
    volume: column(none),
    received: column(none),
    source: times.map(() => source),
    outcome: times.map(() => TAKEN),
  };
}

const rowsOf = ({ time, bid, source }: TickColumns) => source.map((name, row) => `${time[row]} ${name} ${bid[row]}`);

test("of each minute the ticks of the last source that has any show, by time, those of one time in their order", () => {
  const times = fc.array(fc.nat(4 * MINUTE_MS), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(times, { maxLength: 4 }), (sources) => {
      const parts = sources.map((at, index) => ticksAt(at, `s${index}`));
      const minutes = new Map<number, string[]>();
      for (const [part, at] of sources.entries())
        for (const minute of new Set(at.map((time) => Math.floor(time / MINUTE_MS)))) {
          const rows = at.map((time, row) => ({ time, row })).filter(({ time }) => Math.floor(time / MINUTE_MS) === minute);
          rows.sort((a, b) => a.time - b.time || a.row - b.row);
          minutes.set(
            minute,
            rows.map(({ time, row }) => `${time} s${part} ${row + 1}`),
          );
        }
      const expected = [...minutes].sort(([a], [b]) => a - b).flatMap(([, rows]) => rows);
      expect(rowsOf(foldTicks(parts))).toEqual(expected);
    }),
  );
});

test("rows are picked in any order, with all of their values", () => {
  const ticks = ticksAt([1, 2, 3], "s");
  expect(rowsOf(pickTicks(ticks, [2, 0]))).toEqual(["3 s 3", "1 s 1"]);
});
