import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyColumns } from "./columns";
import { FEED_LAYER, fold, knownAt, RANKS, type Statements } from "./fold";

/** What a layer said of a slot: a value, or null for a kline that it took out. */
interface Said {
  readonly slot: number;
  readonly value: number | null;
  readonly known: number;
}
interface Layer {
  readonly number: number;
  readonly rank: number;
  readonly said: readonly Said[];
}

function statementsOf({ number, said }: Layer): Statements {
  const rows = said.toSorted((a, b) => a.slot - b.slot || a.known - b.known);
  const columns = emptyColumns(rows.length);
  for (const [at, { slot, value }] of rows.entries()) {
    columns.time[at] = slot * 60;
    for (const name of ["open", "high", "low", "close"] as const) columns[name][at] = value ?? Number.NaN;
  }
  return {
    ...columns,
    layer: new Int32Array(rows.length).fill(number),
    known: Float64Array.from(rows, ({ known }) => (number === FEED_LAYER ? Number.NaN : known)),
  };
}

/** Row by row, in the order in which it was said. */
function replay(layers: readonly Layer[]): Map<number, { value: number | null; layer: number }> {
  const all = layers.flatMap(({ number, rank, said }) => said.map((one) => ({ ...one, number, rank })));
  const shown = new Map<number, { value: number | null; layer: number }>();
  for (const { slot, value, number } of all.sort((a, b) => a.rank - b.rank || a.known - b.known || a.number - b.number))
    shown.set(slot * 60, { value, layer: number });
  return shown;
}

const layers = fc
  .array(
    fc.record({
      rank: fc.constantFrom(RANKS.source, RANKS.source, RANKS.operator),
      said: fc.uniqueArray(fc.record({ slot: fc.nat(6), value: fc.option(fc.nat(3), { freq: 3 }), known: fc.nat(4) }), {
        selector: ({ slot, known }) => `${slot} ${known}`,
        maxLength: 9,
      }),
    }),
    { maxLength: 5 },
  )
  .map((given) => given.map((layer, index): Layer => ({ ...layer, number: index + 1 })));
const feed = fc
  .uniqueArray(fc.record({ slot: fc.nat(6), value: fc.nat(3), known: fc.constant(0) }), { selector: ({ slot }) => slot })
  .map((said): Layer => ({ number: FEED_LAYER, rank: RANKS.feed, said }));

const rankOf = (all: readonly Layer[]) => (number: number) => all.find((layer) => layer.number === number)?.rank ?? RANKS.source;

function shownBy({ rows, struck }: ReturnType<typeof fold>) {
  const shown = new Map<number, { value: number | null; layer: number }>();
  for (const [at, time] of rows.time.entries())
    shown.set(time, { value: rows.close[at] as number, layer: rows.layer[at] as number });
  for (const [at, time] of struck.time.entries()) shown.set(time, { value: null, layer: struck.layer[at] as number });
  return shown;
}
const sorted = (shown: ReturnType<typeof replay>) => [...shown].sort(([a], [b]) => a - b);

describe("fold", () => {
  test("what shows is what a replay of every statement leaves: by rank, then by instant, then by the number of the layer", () => {
    fc.assert(
      fc.property(feed, layers, fc.boolean(), (made, said, backwards) => {
        const all = [made, ...said];
        const parts = all.map(statementsOf);
        const folded = fold(backwards ? parts.toReversed() : parts, rankOf(all));
        expect(sorted(shownBy(folded))).toEqual(sorted(replay(all)));
        expect([...folded.rows.time]).toEqual([...folded.rows.time].sort((a, b) => a - b));
      }),
    );
  });

  test("without a layer, what shows is as if it had never been", () => {
    fc.assert(
      fc.property(feed, layers, fc.nat(), (made, said, chosen) => {
        const all = [made, ...said];
        const left = all.filter((_, index) => index !== chosen % all.length);
        expect(sorted(shownBy(fold(left.map(statementsOf), rankOf(all))))).toEqual(sorted(replay(left)));
      }),
    );
  });

  test("what was known at an instant is the replay of what was said until then", () => {
    fc.assert(
      fc.property(feed, layers, fc.nat(400), (made, said, atMs) => {
        const all = [made, ...said];
        // The feed's klines are known when their minutes are over.
        const endMsOf = (time: number) => time + 60;
        const parts = all.map((layer) => knownAt(statementsOf(layer), atMs, endMsOf));
        const before = all.map((layer) => ({
          ...layer,
          said: layer.said.filter(({ slot, known }) => (layer.number === FEED_LAYER ? slot * 60 + 60 : known) <= atMs),
        }));
        expect(sorted(shownBy(fold(parts, rankOf(all))))).toEqual(sorted(replay(before)));
      }),
    );
  });

  test("a single layer without repetitions is passed on, not copied", () => {
    const statements = statementsOf({ number: 4, rank: RANKS.source, said: [{ slot: 1, value: 2, known: 0 }] });
    expect(fold([statements], () => RANKS.source).rows).toBe(statements);
  });
});
