import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { decimals, decodeFile, doubles, encodeFile, type FileColumn, instants, texts } from "./parquet-file";

/** What a file of ticks says of itself, in its key-value metadata. */
export interface TickNames {
  readonly venue: string;
  readonly ticker: string;
}

const isUnknown = (column: Float64Array) => column.every(Number.isNaN);

/**
 * Writes ticks as a Parquet file, in their order (lib/docs/guides/files.mdx). Columns of which nothing is known are left out, and the one
 * that says why ticks were not taken, where all were.
 * @param digits after the point, of a price of the instrument
 */
export function encodeTicks(ticks: TickColumns, { venue, ticker }: TickNames, digits: number): Uint8Array {
  const { time, bid, ask, volume, received, source, outcome } = ticks;
  const columns: FileColumn[] = [
    instants("time", time, 1),
    ...decimals(
      [
        ["bid", bid],
        ["ask", ask],
      ],
      digits,
    ),
  ];
  if (!isUnknown(volume)) columns.push(doubles("volume", volume));
  if (!isUnknown(received)) columns.push(instants("received_at", received, 1));
  columns.push(texts("provider", source));
  if (outcome.some((text) => text !== TAKEN)) columns.push(texts("outcome", outcome));
  return encodeFile(columns, { venue, ticker, type: "ticks" });
}

/** Reads what encodeTicks wrote. Check the hash before (requireIntact). @throws SegmentDamaged for any other file */
export async function decodeTicks(bytes: Uint8Array): Promise<TickColumns> {
  const { rows, has, numbers, texts } = await decodeFile(bytes);
  const numbersOf = (name: string) => (has(name) ? numbers(name) : new Float64Array(rows).fill(Number.NaN));
  return {
    time: numbers("time"),
    bid: numbers("bid"),
    ask: numbers("ask"),
    volume: numbersOf("volume"),
    received: numbersOf("received_at"),
    source: texts("provider"),
    outcome: has("outcome") ? texts("outcome") : new Array<string>(rows).fill(TAKEN),
  };
}
