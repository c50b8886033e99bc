import { createHash } from "node:crypto";
import { type FileMetaData, parquetMetadata, parquetRead, type SchemaElement, type Statistics } from "hyparquet";
import { ByteWriter, type ColumnSource, ParquetWriter } from "hyparquet-writer";
import { SegmentDamaged } from "#lib/storage-errors";

/** Changes when files of an older form cannot be read as these are. */
const FORMAT_VERSION = "1";
/** Fewest and most digits after the point that are tried for prices and spreads. */
const SCALE_MAX_DIGITS = 12;
export const INT32_MAX = 2_147_483_647;
/** The greatest integer of a decimal that is kept in 32 bits, by the standard of Parquet: nine digits. */
const INT32_DECIMAL_MAX = 999_999_999;
/** Of the keys of our metadata. */
const PREFIX = "spotwire.";
const TWO_TO_32 = 4_294_967_296;
/** Significant digits that an INT32 and an INT64 hold, as the precision of a decimal. */
const INT32_DIGITS = 9;
const INT64_DIGITS = 18;

type Values = Float64Array | Int32Array | BigInt64Array | (number | bigint | null)[] | readonly string[];

/** A column as it is written: what it holds, and what it means. The meaning is added to the schema once its values are written. */
export interface FileColumn {
  readonly name: string;
  readonly type: "INT32" | "INT64" | "DOUBLE" | "BYTE_ARRAY";
  readonly values: Values;
  readonly meaning?: Partial<SchemaElement>;
  readonly statistics?: Statistics;
}

/** The values in units of the last of so many digits; null where one of them is no decimal of so many digits exactly. */
function unitsOf(column: Float64Array, power: number): Float64Array | null {
  const units = new Float64Array(column.length);
  for (let row = 0; row < column.length; row += 1) {
    const value = column[row] as number;
    const unit = Math.round(value * power);
    if (unit / power !== value && !Number.isNaN(value)) return null;
    units[row] = unit;
  }
  return units;
}

/** Columns in units of the fewest digits from `least` on with which every value is exact; null where there are none. */
function scaled(columns: readonly Float64Array[], least: number) {
  // A value that is exact with few digits need not be so with more: its units have too many digits for a double.
  for (let scale = least; scale <= SCALE_MAX_DIGITS; scale += 1) {
    const units = columns.map((column) => unitsOf(column, 10 ** scale)).filter((column) => column !== null);
    if (units.length < columns.length) continue;
    let most = 0;
    for (const column of units) for (const unit of column) if (Math.abs(unit) > most) most = Math.abs(unit);
    return most > Number.MAX_SAFE_INTEGER ? null : { scale, units, most };
  }
  return null;
}

/** Values with nulls where the column has none; a column without nulls stays a typed array, which is written and read faster. */
function nullable(column: Float64Array, convert: (value: number) => number | bigint): (number | bigint | null)[] {
  const values = new Array<number | bigint | null>(column.length).fill(null);
  for (let row = 0; row < column.length; row += 1) {
    const value = column[row] as number;
    if (!Number.isNaN(value)) values[row] = convert(value);
  }
  return values;
}

/** Whole numbers as 64-bit ones: their halves are written directly, because a BigInt for each takes ten times as long. */
function wholeNumbers(column: Float64Array): BigInt64Array {
  const whole = new BigInt64Array(column.length);
  const halves = new DataView(whole.buffer);
  for (let row = 0; row < column.length; row += 1) {
    const value = column[row] as number;
    halves.setInt32(row * 8 + 4, Math.floor(value / TWO_TO_32), true);
    halves.setUint32(row * 8, value >>> 0, true);
  }
  return whole;
}

/** Least and greatest. The writer would make a BigInt of each value to know them. */
function statisticsOf(column: Float64Array, convert: (value: number) => number | bigint): Statistics {
  let [least, greatest, nulls] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const value of column) {
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    if (Number.isNaN(value)) nulls += 1;
  }
  const bounds = nulls === column.length ? {} : { min_value: convert(least), max_value: convert(greatest) };
  return { ...bounds, null_count: BigInt(nulls) } as Statistics;
}

/** @param column whole numbers */
export function integers(
  name: string,
  column: Float64Array,
  type: "INT32" | "INT64",
  meaning: Partial<SchemaElement>,
): FileColumn {
  // The writer takes 64-bit numbers for the integers of a decimal; it would scale others once more.
  const statistics = statisticsOf(column, type === "INT64" || meaning.scale !== undefined ? BigInt : Number);
  if (column.includes(Number.NaN))
    return { name, type, meaning, statistics, values: nullable(column, type === "INT64" ? BigInt : Number) };
  return { name, type, meaning, statistics, values: type === "INT64" ? wholeNumbers(column) : new Int32Array(column) };
}

export function doubles(name: string, column: Float64Array): FileColumn {
  if (!column.includes(Number.NaN)) return { name, type: "DOUBLE", values: column };
  const values = nullable(column, Number);
  const nulls = values.reduce<number>((count, value) => (value === null ? count + 1 : count), 0);
  return { name, type: "DOUBLE", values, statistics: { null_count: BigInt(nulls) } };
}

/** Decimals of one scale; doubles where the values are none. */
export function decimals(columns: readonly (readonly [name: string, values: Float64Array])[], digits: number): FileColumn[] {
  const found = scaled(
    columns.map(([, values]) => values),
    digits,
  );
  if (found === null) return columns.map(([name, values]) => doubles(name, values));
  const { scale, units, most } = found;
  const type = most > INT32_DECIMAL_MAX ? "INT64" : "INT32";
  const precision = type === "INT32" ? INT32_DIGITS : INT64_DIGITS;
  const meaning: Partial<SchemaElement> = {
    converted_type: "DECIMAL",
    logical_type: { type: "DECIMAL", scale, precision },
    scale,
    precision,
  };
  return columns.map(([name], index) => integers(name, units[index] as Float64Array, type, meaning));
}

export const instants = (name: string, column: Float64Array, power: number): FileColumn =>
  integers(
    name,
    column.map((value) => value * power),
    "INT64",
    {
      converted_type: "TIMESTAMP_MILLIS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    },
  );

/** Texts, of which there are few different ones. */
export const texts = (name: string, values: readonly string[]): FileColumn => ({
  name,
  type: "BYTE_ARRAY",
  meaning: { converted_type: "UTF8", logical_type: { type: "STRING" } },
  values,
});

/** How a column is packed: integers by their differences, unless most are missing or the same. */
function encodingOf({ type, values }: FileColumn): ColumnSource["encoding"] {
  if (type === "DOUBLE" || Array.isArray(values)) return undefined;
  return "DELTA_BINARY_PACKED";
}

/** Writes columns of one length as a Parquet file of one row group. @param names its metadata */
export function encodeFile(columns: readonly FileColumn[], names: Readonly<Record<string, string>>): Uint8Array {
  const element = ({ name, type, values, meaning }: FileColumn): SchemaElement => ({
    name,
    type,
    repetition_type: type !== "BYTE_ARRAY" && Array.isArray(values) ? "OPTIONAL" : "REQUIRED",
    ...(type === "BYTE_ARRAY" && meaning),
  });
  const schema: SchemaElement[] = [{ name: "root", num_children: columns.length }, ...columns.map(element)];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema,
    createdBy: "Spotwire",
    kvMetadata: Object.entries({ ...names, format: FORMAT_VERSION }).map(([key, value]) => ({ key: PREFIX + key, value })),
  });
  writer.write({
    columnData: columns.map((column): ColumnSource => {
      const encoding = encodingOf(column);
      return { name: column.name, data: column.values as ColumnSource["data"], statistics: false, ...(encoding && { encoding }) };
    }),
    rowGroupSize: Math.max(1, columns[0]?.values.length ?? 0),
    // One page a column: nobody reads less than a segment.
    pageSize: 0,
  });
  // Only now: with a meaning, the writer would take the integers for values and convert each again.
  for (const [index, column] of columns.entries()) {
    Object.assign(schema[index + 1] as SchemaElement, column.meaning);
    const { statistics } = column;
    if (statistics === undefined || column.name === "known_at") continue;
    for (const { columns: chunks } of writer.row_groups) Object.assign(chunks[index]?.meta_data ?? {}, { statistics });
  }
  writer.finish();
  return bytes.getBytes();
}

/** The name of a segment: the SHA-256 of its bytes. */
export function segmentId(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The schema without what its integers mean, so that they are read as they are. */
function physicalSchema(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map(({ name, type, repetition_type, num_children }) => ({
    name,
    ...(type && { type }),
    ...(repetition_type && { repetition_type }),
    ...(num_children !== undefined && { num_children }),
  }));
  return { ...metadata, schema };
}

/** A column of numbers, divided by `power`. A loop for each kind of array: one for all takes three times as long. */
function toNumbers(values: ArrayLike<number | bigint | null | undefined>, power: number): Float64Array {
  const column = new Float64Array(values.length);
  if (values instanceof Float64Array && power === 1) column.set(values);
  else if (values instanceof Int32Array)
    for (let row = 0; row < column.length; row += 1) column[row] = (values[row] as number) / power;
  else if (values instanceof BigInt64Array) {
    const halves = new DataView(values.buffer, values.byteOffset, values.byteLength);
    for (let row = 0; row < column.length; row += 1)
      column[row] = (halves.getInt32(row * 8 + 4, true) * TWO_TO_32 + halves.getUint32(row * 8, true)) / power;
  } else
    for (let row = 0; row < column.length; row += 1) {
      const value = values[row];
      column[row] = value === null || value === undefined ? Number.NaN : Number(value) / power;
    }
  return column;
}

/** The columns of which every value is null. They need not be read, and each null of them would take as long as three numbers. */
function emptyNames({ row_groups, schema }: FileMetaData): ReadonlySet<string> {
  const isEmpty = (index: number) =>
    row_groups.every(({ columns, num_rows }) => columns[index]?.meta_data?.statistics?.null_count === num_rows);
  return new Set(schema.slice(1).flatMap(({ name }, index) => (isEmpty(index) ? [name] : [])));
}

/** What a file holds. */
interface DecodedFile {
  readonly rows: number;
  /** An entry of its metadata. */
  said(key: string): string | undefined;
  has(name: string): boolean;
  /** A column of numbers in the unit of its meaning, or divided by `power`. @throws SegmentDamaged where it has not one for each row */
  numbers(name: string, power?: number): Float64Array;
  texts(name: string): readonly string[];
}

/**
 * Reads what encodeFile wrote. Check the hash before (requireIntact): in a file of wrong bytes, a count can be so great that
 * reading does not end. @throws SegmentDamaged for a file that is cut off, of another program or of another format
 */
export async function decodeFile(bytes: Uint8Array): Promise<DecodedFile> {
  const chunks = new Map<string, ArrayLike<number | bigint | string | null>[]>();
  let metadata: FileMetaData;
  let empty: ReadonlySet<string>;
  try {
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    metadata = parquetMetadata(file);
    empty = emptyNames(metadata);
    await parquetRead({
      file,
      metadata: physicalSchema(metadata),
      columns: metadata.schema.slice(1).flatMap(({ name }) => (empty.has(name) ? [] : [name])),
      onChunk: ({ columnName, columnData }) => {
        const known = chunks.get(columnName);
        if (known === undefined) chunks.set(columnName, [columnData as ArrayLike<number>]);
        else known.push(columnData as ArrayLike<number>);
      },
    });
  } catch (error) {
    throw new SegmentDamaged(`not a segment: ${error instanceof Error ? error.message : String(error)}`);
  }
  const rows = Number(metadata.num_rows);
  const said = (key: string) => metadata.key_value_metadata?.find((entry) => entry.key === PREFIX + key)?.value;
  const scaleOf = (name: string) => metadata.schema.find((element) => element.name === name)?.scale ?? 0;
  function valuesOf(name: string): ArrayLike<number | bigint | string | null> {
    const parts = chunks.get(name) ?? [];
    const values = parts.length === 1 ? parts[0] : parts.flatMap((part) => Array.from(part));
    if (values?.length !== rows) throw new SegmentDamaged(`not a segment: ${name} does not have ${rows} values`);
    return values;
  }
  const format = said("format");
  if (format !== FORMAT_VERSION) throw new SegmentDamaged(`not a segment: its format is ${format ?? "that of another program"}`);
  return {
    rows,
    said,
    has: (name) => metadata.schema.some((element) => element.name === name),
    numbers: (name, power = 10 ** scaleOf(name)) =>
      empty.has(name) ? new Float64Array(rows).fill(Number.NaN) : toNumbers(valuesOf(name) as ArrayLike<number>, power),
    texts: (name) => Array.from(valuesOf(name), String),
  };
}
