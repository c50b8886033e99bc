import { emptyColumns, joinColumns, type KlineColumns, pickRows } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import { saidBy } from "#server/store/segments/segments";
import type { OldMinutes, OldRows } from "./convert-rows";

/** What is known of an import. */
interface Said {
  /** When it began, Unix milliseconds. */
  readonly knownMs: number;
  readonly byOperator: boolean;
}

/** Imports by number. Of one that was forgotten nothing is known, and it was the earliest. */
export type Imports = ReadonlyMap<number, Said>;
const FORGOTTEN: Said = { knownMs: 0, byOperator: false };

/** One version of a minute: a row of the columns that hold all of them. */
interface Version {
  readonly layer: number;
  readonly row: number;
}

/** What the imports and the feed said of a period, one part for each of them. */
interface Restated {
  readonly parts: readonly Statements[];
  /** Corrections that a later import wrote over: a correction would win now. */
  readonly leftOut: number;
}

/** Rows that are collected for one layer. */
interface Collected {
  readonly rows: number[];
  readonly known: number[];
}

function statementsOf(columns: KlineColumns, layer: number, { rows, known }: Collected): Statements {
  const said = saidBy(pickRows(columns, rows), layer, 0);
  if (layer !== FEED_LAYER) said.known.set(known);
  return said;
}

function createCollector(columns: KlineColumns) {
  const layers = new Map<number, Collected>();
  return {
    add(layer: number, row: number, knownMs: number): void {
      let collected = layers.get(layer);
      if (collected === undefined) {
        collected = { rows: [], known: [] };
        layers.set(layer, collected);
      }
      collected.rows.push(row);
      collected.known.push(knownMs);
    },
    parts: () => [...layers].map(([layer, collected]) => statementsOf(columns, layer, collected)),
  };
}

/** Rows of several layers as one part for each. */
function byLayer(rows: OldRows, knownMs: (layer: number) => number): Statements[] {
  const { layer } = rows;
  const [only] = layer;
  if (only === undefined) return [];
  if (layer.every((value) => value === only)) return [saidBy(rows, only, knownMs(only))];
  const collector = createCollector(rows);
  for (const [row, of] of layer.entries()) collector.add(of, row, knownMs(of));
  return collector.parts();
}

/** The versions of a minute, the one that shows first: each names the import that replaced it. What nothing leads to is gone. */
function chainOf(minutes: OldMinutes, time: number, top: Version, firstReplaced: number): Version[] {
  const chain = [top];
  const versions = minutes.versions.get(time) ?? [];
  for (let { layer } = top; layer !== FEED_LAYER; ) {
    const before = versions.find(({ by }) => by === layer);
    // An import that wrote a minute twice, with another in between, said it once.
    if (before === undefined || chain.some((version) => version.layer === before.layer)) break;
    chain.push({ layer: before.layer, row: firstReplaced + before.row });
    layer = before.layer;
  }
  return chain;
}

/**
 * What was said of the minutes of a period. A minute is a chain of versions, and each of them was stored after the one that it replaced,
 * whatever the clocks of the machines said: their order is kept. A correction counts more than what comes later, which was not so:
 * one that an import wrote over is left out.
 */
export function restateMinutes(minutes: OldMinutes, imports: Imports): Restated {
  const { rows, versions, replaced, struck } = minutes;
  const saidOf = (layer: number) => imports.get(layer) ?? FORGOTTEN;
  if (versions.size === 0 && struck.size === 0) return { parts: byLayer(rows, (layer) => saidOf(layer).knownMs), leftOut: 0 };
  const shown = new Set(rows.time);
  const gone = [...struck].filter(([time]) => !shown.has(time)).sort(([a], [b]) => a - b);
  const strikes = emptyColumns(gone.length);
  for (const column of Object.values(strikes)) (column as Float64Array).fill(Number.NaN);
  for (const [at, [time]] of gone.entries()) strikes.time[at] = time;
  const firstReplaced = rows.time.length;
  const firstStruck = firstReplaced + replaced.time.length;
  const collector = createCollector(joinColumns([rows, replaced, strikes]));
  let leftOut = 0;

  function addChain(chain: readonly Version[]): void {
    const counting: Version[] = [];
    let isOver = false;
    for (const version of chain) {
      const { byOperator } = saidOf(version.layer);
      if (byOperator && isOver) leftOut += 1;
      else counting.push(version);
      isOver ||= !byOperator;
    }
    let [knownMs, lastLayer] = [0, FEED_LAYER];
    for (const { layer, row } of counting.reverse()) {
      // Of what was said at one instant, the higher layer counts.
      if (layer !== FEED_LAYER) knownMs = Math.max(saidOf(layer).knownMs, layer < lastLayer ? knownMs + 1 : knownMs);
      lastLayer = layer;
      collector.add(layer, row, knownMs);
    }
  }

  // Ascending by time, so that the rows of each layer are.
  for (let row = 0, at = 0; row < rows.time.length || at < gone.length; ) {
    const [time = Number.POSITIVE_INFINITY, strike] = [rows.time[row], gone[at]];
    if (strike !== undefined && strike[0] < time) {
      addChain(chainOf(minutes, strike[0], { layer: strike[1], row: firstStruck + at }, firstReplaced));
      at += 1;
    } else {
      addChain(chainOf(minutes, time, { layer: rows.layer[row] as number, row }, firstReplaced));
      row += 1;
    }
  }
  return { parts: collector.parts(), leftOut };
}

/**
 * What imports said of klines above M1: the one with the highest number showed, whatever the clocks of the machines said.
 * @param kept klines of the feed whose minutes are gone
 */
export function restateLonger(rows: OldRows, kept: OldRows, imports: Imports): Statements[] {
  const known = new Map<number, number>();
  let knownMs = 0;
  for (const layer of [...new Set(rows.layer)].sort((a, b) => a - b)) {
    knownMs = Math.max(knownMs, (imports.get(layer) ?? FORGOTTEN).knownMs);
    known.set(layer, knownMs);
  }
  return [...byLayer(kept, () => Number.NaN), ...byLayer(rows, (layer) => known.get(layer) ?? 0)];
}
