import { type Kline, toPublic } from "#lib/domain/kline";

const nameOf = (field: keyof Kline) => Buffer.from(`,"${field}":`);
/** The fields after the time, in the order of the record. */
const NAMES = {
  open: nameOf("open"),
  high: nameOf("high"),
  low: nameOf("low"),
  close: nameOf("close"),
  tick_volume: nameOf("tick_volume"),
  real_volume: nameOf("real_volume"),
  spread: nameOf("spread"),
};
const NAMES_BYTES = Buffer.concat(Object.values(NAMES)).length;
const NULL = Buffer.from("null");
/** The time, and one for each of the names. */
const NUMBERS_COUNT = 8;
/** The longest number that JSON has: -1.7976931348623157e+308. */
const NUMBER_MAX_BYTES = 24;
/** Prices have at most this many decimals; a number with more is printed like any other. */
const DECIMALS_COUNT = 6;
const SCALE = 10 ** DECIMALS_COUNT;
/** Up to 15 digits, no two decimal numbers are the same floating-point number. */
const SCALED_MAX = 1e15;
const INT_MAX = 2 ** 31 - 1;
const [ZERO, DOT, COMMA, END] = [48, 46, 44, 125];

/** The digits of an integer from 0 to INT_MAX; returns where they end. */
function writeInt(bytes: Uint8Array, start: number, value: number): number {
  let end = start + 1;
  for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end += 1;
  let left = value;
  for (let at = end - 1; at >= start; at -= 1) {
    const tens = (left / 10) | 0;
    bytes[at] = ZERO + left - tens * 10;
    left = tens;
  }
  return end;
}

/** The decimals of a number, without the zeros at their end: of 1.25 with its millionths, 250,000. */
function writeDecimals(bytes: Uint8Array, start: number, millionths: number): number {
  let left = millionths;
  let count = DECIMALS_COUNT;
  for (let tens = (left / 10) | 0; tens * 10 === left; tens = (left / 10) | 0) {
    left = tens;
    count -= 1;
  }
  bytes[start] = DOT;
  for (let at = start + count; at > start; at -= 1) {
    const tens = (left / 10) | 0;
    bytes[at] = ZERO + left - tens * 10;
    left = tens;
  }
  return start + count + 1;
}

/** A number as JSON.stringify prints it; returns where it ends. */
function writeNumber(bytes: Buffer, start: number, value: number): number {
  if (value >= 0 && value <= INT_MAX) {
    const whole = value | 0;
    if (whole === value) return writeInt(bytes, start, whole);
    const scaled = Math.round(value * SCALE);
    // The shortest text of a number that is a short decimal one: division is exact to the last bit.
    if (scaled < SCALED_MAX && scaled / SCALE === value)
      return writeDecimals(bytes, writeInt(bytes, start, whole), (scaled - whole * SCALE) | 0);
  }
  return start + bytes.write(JSON.stringify(value), start, "latin1");
}

/**
 * Prints the klines of one series as JSON: byte for byte what JSON.stringify makes of their public records, 2.5 times as
 * fast. Numbers take most of the time, and those of klines are short decimals.
 */
export function klinesJson(klines: readonly Kline[]): Buffer<ArrayBuffer> {
  const [first] = klines;
  if (first === undefined) return Buffer.from("[]");
  const { type, ticker, timeframe } = first;
  const time = Buffer.from(`${JSON.stringify({ type, ticker, timeframe }).slice(0, -1)},"time":`);
  const bytes = Buffer.allocUnsafe(2 + klines.length * (time.length + NAMES_BYTES + NUMBERS_COUNT * NUMBER_MAX_BYTES + 2));
  let at = bytes.write("[");
  const put = (name: Buffer, value: number | null) => {
    bytes.set(name, at);
    at += name.length;
    if (value !== null) at = writeNumber(bytes, at, value);
    else {
      bytes.set(NULL, at);
      at += NULL.length;
    }
  };
  for (const kline of klines) {
    put(time, kline.time);
    put(NAMES.open, kline.open);
    put(NAMES.high, kline.high);
    put(NAMES.low, kline.low);
    put(NAMES.close, kline.close);
    put(NAMES.tick_volume, kline.tick_volume);
    put(NAMES.real_volume, kline.real_volume);
    put(NAMES.spread, toPublic(kline).spread);
    bytes[at] = END;
    bytes[at + 1] = COMMA;
    at += 2;
  }
  bytes.write("]", at - 1);
  return bytes.subarray(0, at);
}
