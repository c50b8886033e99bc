import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import { decimals, decodeFile, doubles, encodeFile, type FileColumn, INT32_MAX, instants, integers } from "./parquet-file";

/** What a file says of itself, in its key-value metadata. */
export interface SegmentNames {
  readonly venue: string;
  readonly ticker: string;
  readonly timeframe: string;
  /** The side whose prices stand in place of the bid. */
  readonly price?: string;
  /** The instant at which its rows were what showed, Unix seconds. */
  readonly as_of?: string;
}

/** Counts of ticks; doubles where a source has no whole ones. */
function volumes(column: Float64Array): FileColumn {
  let isWhole = true;
  for (const value of column) if (!Number.isNaN(value) && !(Number.isInteger(value) && value <= INT32_MAX)) isWhole = false;
  return isWhole ? integers("tick_volume", column, "INT32", {}) : doubles("tick_volume", column);
}

/** The layer and the instant of all rows, as texts of the metadata; null where rows differ, which then have columns for them. */
function sameOf({ layer, known }: Statements): { readonly layer: string; readonly known_at: string } | null {
  const [firstLayer, firstKnown] = [layer[0] ?? FEED_LAYER, known[0] ?? Number.NaN];
  for (let row = 0; row < layer.length; row += 1)
    if (layer[row] !== firstLayer || !Object.is(known[row], firstKnown)) return null;
  return { layer: String(firstLayer), known_at: Number.isNaN(firstKnown) ? "" : String(firstKnown) };
}

/** The columns of ask and mid prices; none where no row has any. */
function sidesOf(statements: Statements, digits: number): FileColumn[] {
  const { askOpen, askHigh, askLow, askClose, midOpen, midHigh, midLow, midClose } = statements;
  if (askClose.every(Number.isNaN)) return [];
  return [
    ...decimals(
      [
        ["ask_open", askOpen],
        ["ask_high", askHigh],
        ["ask_low", askLow],
        ["ask_close", askClose],
      ],
      digits,
    ),
    ...decimals(
      [
        ["mid_open", midOpen],
        ["mid_high", midHigh],
        ["mid_low", midLow],
        ["mid_close", midClose],
      ],
      digits + 1,
    ),
  ];
}

/**
 * Writes klines as a Parquet file, which DuckDB, Polars, pandas and ClickHouse read as it is (lib/docs/guides/files.mdx). One row
 * group, sorted by time. Decimals are exact: they have as many digits as their values need, and at least those of the instrument.
 * @param digits after the point, of a price of the instrument
 */
export function encodeStatements(
  statements: Statements,
  { venue, ticker, timeframe, price, as_of }: SegmentNames,
  digits: number,
): Uint8Array {
  const { time, open, high, low, close, tickVolume, realVolume, spread, layer, known } = statements;
  const said = sameOf(statements);
  const columns: FileColumn[] = [
    instants("time", time, 1_000),
    ...decimals(
      [
        ["open", open],
        ["high", high],
        ["low", low],
        ["close", close],
      ],
      digits,
    ),
    volumes(tickVolume),
    doubles("real_volume", realVolume),
    ...decimals([["spread", spread]], digits + 1),
    ...sidesOf(statements, digits),
    ...(said === null ? [{ name: "layer", type: "INT32", values: layer } as const, instants("known_at", known, 1)] : []),
  ];
  // Always in this order: the name of a segment is the hash of its bytes.
  const names = { venue, ticker, timeframe, ...(price !== undefined && { price }), ...(as_of !== undefined && { as_of }) };
  return encodeFile(columns, { ...names, ...said });
}

/** Reads what encodeStatements wrote. Check the hash before (requireIntact). @throws SegmentDamaged for any other file */
export async function decodeStatements(bytes: Uint8Array): Promise<Statements> {
  const { rows, said, has, numbers } = await decodeFile(bytes);
  const layer = said("layer");
  const side = (name: string) => (has(name) ? numbers(name) : new Float64Array(0));
  return {
    time: numbers("time", 1_000),
    open: numbers("open"),
    high: numbers("high"),
    low: numbers("low"),
    close: numbers("close"),
    tickVolume: numbers("tick_volume"),
    realVolume: numbers("real_volume"),
    spread: numbers("spread"),
    askOpen: side("ask_open"),
    askHigh: side("ask_high"),
    askLow: side("ask_low"),
    askClose: side("ask_close"),
    midOpen: side("mid_open"),
    midHigh: side("mid_high"),
    midLow: side("mid_low"),
    midClose: side("mid_close"),
    layer: layer === undefined ? Int32Array.from(numbers("layer")) : new Int32Array(rows).fill(Number(layer)),
    known: layer === undefined ? numbers("known_at") : new Float64Array(rows).fill(Number(said("known_at") || Number.NaN)),
  };
}
