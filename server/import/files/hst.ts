import { timeframeOfMinutes } from "#lib/domain/timeframe";
import { ImportFailure } from "#server/import/failure";
import { cell, linesOf } from "./text";

/**
 * MetaTrader 4's history files, little-endian. A header of 148 bytes: version, copyright (64 bytes), symbol (12), period in minutes,
 * digits, times of the file, zeros. Records of version 400 are a time of 4 bytes and open, low, high, close, volume as doubles,
 * those of version 401 a time of 8 bytes, open, high, low, close, volume, spread (4 bytes) and real volume.
 */
const HEADER_BYTES = 148;
const SYMBOL_AT = 68;
const SYMBOL_BYTES = 12;
const PERIOD_AT = 80;
const DIGITS_AT = 84;
const DIGITS_MAX = 8;
const RECORD_BYTES: Readonly<Record<number, number>> = { 400: 44, 401: 60 };
/** The first word of the header line of the text. */
export const HST_MARK = "MetaTrader-4-history";

/** Whether a file begins as a history file does: with its version, and zeros behind the symbol. */
export function isHst(beginning: Buffer): boolean {
  return beginning.length >= HEADER_BYTES && RECORD_BYTES[beginning.readUInt32LE(0)] !== undefined;
}

/** The row of one record: time, prices, quotes, and in version 401 spread and real volume. */
function rowOf(record: Buffer, version: number, digits: number): string {
  const price = (at: number) => record.readDoubleLE(at).toFixed(digits);
  if (version === 400)
    return [record.readUInt32LE(0), price(4), price(20), price(12), price(28), record.readDoubleLE(36)].join(",");
  const prices = [price(8), price(16), price(24), price(32)];
  // MetaTrader 4 leaves both at 0 where it knows none.
  const [spread, volume] = [record.readUInt32LE(48), record.readBigInt64LE(52)];
  return [record.readBigInt64LE(0), ...prices, record.readBigInt64LE(40), spread || "", volume || ""].join(",");
}

function headerOf(header: Buffer): { version: number; digits: number; line: string } {
  const version = header.readUInt32LE(0);
  const [symbol = ""] = header.toString("latin1", SYMBOL_AT, SYMBOL_AT + SYMBOL_BYTES).split("\0");
  const [minutes, digits] = [header.readUInt32LE(PERIOD_AT), header.readUInt32LE(DIGITS_AT)];
  if (digits > DIGITS_MAX)
    throw new ImportFailure(`not a readable history file: its header says that prices have ${digits} digits`);
  return { version, digits, line: [HST_MARK, cell(symbol), timeframeOfMinutes(minutes) ?? `${minutes} minutes`].join(",") };
}

/**
 * The records of a history file as text: a header line with symbol and timeframe, then a line for each record.
 * @throws ImportFailure when it is cut off in the middle of a record
 */
export async function* hstText(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let found: ReturnType<typeof headerOf> | undefined;
  let records = 0;
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    if (found === undefined) {
      if (rest.length < HEADER_BYTES) continue;
      found = headerOf(rest);
      rest = rest.subarray(HEADER_BYTES);
      yield* linesOf([found.line]);
    }
    const { version, digits } = found;
    const size = RECORD_BYTES[version] as number;
    const count = Math.floor(rest.length / size);
    const all = rest;
    yield* linesOf(Array.from({ length: count }, (_, index) => rowOf(all.subarray(index * size), version, digits)));
    rest = rest.subarray(count * size);
    records += count;
  }
  if (rest.length > 0)
    throw new ImportFailure(`it is cut off in record ${records + 1}: copy it again, while MetaTrader is closed`);
}
