import type { Timeframe } from "#lib/contract/primitives";
import { type Folded, fold, knownAt } from "#lib/domain/fold";
import { createAlignment } from "#lib/domain/timeframe";
import { SECOND_MS } from "#lib/units";
import { decodeStatements } from "#server/store/segments/parquet";
import { answerOrders } from "#server/threads/thread";
import { ranksOf } from "./layers";

/** The thread that folds what layers had said at an instant. Bundled as a file of its own (server/cli/bundle.ts). */

/** The layers of a period that counted at an instant, with the bytes of what they say by now. */
export interface PastOrder {
  readonly timeframe: Timeframe;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly layers: readonly { readonly layer: number; readonly by_operator: boolean; readonly bytes: Uint8Array }[];
}

const alignment = createAlignment();

async function foldPast({ timeframe, atMs, layers }: PastOrder): Promise<Folded> {
  const endMsOf = (time: number) => alignment.nextOpenTime(timeframe, time) * SECOND_MS;
  const parts = await Promise.all(layers.map(({ bytes }) => decodeStatements(bytes)));
  return fold(
    parts.map((part) => knownAt(part, atMs, endMsOf)),
    ranksOf(timeframe, layers),
  );
}

answerOrders(foldPast, ({ rows, struck }) => {
  const columns: readonly (Float64Array | Int32Array)[] = [...Object.values(rows), ...Object.values(struck)];
  return [...new Set(columns.map(({ buffer }) => buffer as ArrayBuffer))];
});
