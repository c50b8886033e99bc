import { HOUR_MS, MINUTE_MS } from "#lib/units";

/** Parses numbers and times directly from the bytes of a line, without creating a string for each. */

/** Digits that a double represents exactly; later digits are floating-point noise (1.1338300000000001). */
const EXACT_DIGITS = 15;

const ZERO = 48;
const FIVE = 53;
const NINE = 57;
const COMMA = 44;
const DOT = 46;
const MINUS = 45;
const PLUS = 43;
const COLON = 58;
const SPACE = 32;
const UPPER_A = 65;
const UPPER_T = 84;
const UPPER_Z = 90;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LOWER_A = 97;
const LOWER_M = 109;
const LOWER_P = 112;
const LOWER_Z = 122;
/** The bit that letters in lower case have. */
const LOWER_CASE = 32;

/** 10^0 to 10^22, all exact as doubles, so that a division by one of them rounds only once. */
const POWERS: readonly number[] = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

const DECIMAL = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?$/;

/** "1,900.00" and "1,234,567". */
const GROUPED = /^[-+]?\d{1,3}(?:(?:,\d{3})+\.\d*|(?:,\d{3}){2,})$/;
/** "1,900": a thousand, where the decimal mark is known to be a point; else it may be 1.9. */
const GROUPED_ONCE = /^[-+]?\d{1,3},\d{3}$/;
const SWAPPED: Readonly<Record<string, string>> = { ",": ".", ".": "," };

/** The character before the decimals of a number. */
export type DecimalMark = "." | ",";

function rareNumber(bytes: Buffer, from: number, to: number, mark: DecimalMark | undefined): number {
  const written = bytes.toString("latin1", from, to);
  const dotted = mark === "," ? written.replace(/[.,]/g, (found) => SWAPPED[found] as string) : written;
  const isGrouped = GROUPED.test(dotted) || (mark !== undefined && GROUPED_ONCE.test(dotted));
  const text = isGrouped ? dotted.replaceAll(",", "") : dotted;
  return DECIMAL.test(text) ? Number(text) : Number.NaN;
}

/**
 * The decimal number in bytes[from, to), NaN when there is none (an empty range, "nan", "0x10", "1,5").
 * @param decimalMark where it is known; else a point
 */
export function numberAt(bytes: Buffer, from: number, to: number, decimalMark?: DecimalMark): number {
  const mark = decimalMark === "," ? COMMA : DOT;
  let at = from;
  const negative = bytes[at] === MINUS;
  if (negative) at += 1;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1;
  let seen = 0;
  for (; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= ZERO && byte <= NINE) {
      seen += 1;
      if (digits >= EXACT_DIGITS) {
        if (decimals < 0) return rareNumber(bytes, from, to, decimalMark);
        // 1.2001199999999999 is 1.20012.
        if (digits === EXACT_DIGITS && byte >= FIVE) mantissa += 1;
        digits += 1;
        continue;
      }
      mantissa = mantissa * 10 + (byte - ZERO);
      if (mantissa > 0) digits += 1;
      if (decimals >= 0) decimals += 1;
    } else if (byte === mark && decimals < 0) decimals = 0;
    else return rareNumber(bytes, from, to, decimalMark);
  }
  if (seen === 0) return Number.NaN;
  const power = POWERS[Math.max(decimals, 0)];
  if (power === undefined) return rareNumber(bytes, from, to, decimalMark);
  const value = mantissa / power;
  return negative ? -value : value;
}

/** The whole number of `count` digits at `at`, -1 when one of them is not a digit. */
function digitsAt(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const digit = (bytes[index] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Unix milliseconds of a calendar day at 00:00, NaN when the day does not exist. */
export function dayMs(year: number, month: number, day: number): number {
  if (month < 1 || month > 12 || day < 1 || year < 1900) return Number.NaN;
  const at = new Date(Date.UTC(year, month - 1, day));
  return at.getUTCDate() === day ? at.getTime() : Number.NaN;
}

/** Formats of a date: 20200131, 2020-01-31 (any separator), 31.01.2020 and 01/31/2020 (any separator). */
export type DateStyle = "compact" | "ymd" | "dmy" | "mdy";
export const DATE_BYTES: Readonly<Record<DateStyle, number>> = { compact: 8, ymd: 10, dmy: 10, mdy: 10 };
/** Where year, month and day begin. */
const DATE_PARTS = { compact: [0, 4, 6], ymd: [0, 5, 8], dmy: [6, 3, 0], mdy: [6, 0, 3] } as const;

/** Returns a parser for dates of one style: Unix milliseconds of midnight UTC, NaN when there is no date. */
export function createDateReader(style: DateStyle): (bytes: Buffer, at: number) => number {
  const [yearAt, monthAt, dayAt] = DATE_PARTS[style];
  // Nearly all rows have the date of the row before.
  let knownKey = -1;
  let knownMs = Number.NaN;
  return (bytes, at) => {
    const year = digitsAt(bytes, at + yearAt, 4);
    const month = digitsAt(bytes, at + monthAt, 2);
    const day = digitsAt(bytes, at + dayAt, 2);
    if (year < 0 || month < 0 || day < 0) return Number.NaN;
    const key = year * 10_000 + month * 100 + day;
    if (key !== knownKey) {
      knownKey = key;
      knownMs = dayMs(year, month, day);
    }
    return knownMs;
  };
}

/** Milliseconds of a fraction of a second in bytes[from, to); digits below a millisecond are truncated. */
function fractionAt(bytes: Buffer, from: number, to: number): number {
  if (to === from || to - from > 9) return Number.NaN;
  let value = 0;
  let weight = 100;
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value += digit * weight;
    weight = weight >= 10 ? weight / 10 : 0;
  }
  return value;
}

/** Milliseconds since midnight of HH:MM[:SS[.fraction]] or HHMMSS[mmm] in bytes[from, to), NaN for anything else. */
export function timeOfDayAt(bytes: Buffer, from: number, to: number): number {
  const spaced = bytes[from + 2] === COLON;
  const step = spaced ? 3 : 2;
  const hours = digitsAt(bytes, from, 2);
  const minutes = digitsAt(bytes, from + step, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN;
  const minuteMs = hours * HOUR_MS + minutes * MINUTE_MS;
  const secondsAt = from + 2 * step;
  if (spaced && to === secondsAt - 1) return minuteMs;
  if (to < secondsAt + 2 || (spaced && bytes[secondsAt - 1] !== COLON)) return Number.NaN;
  const seconds = digitsAt(bytes, secondsAt, 2);
  if (seconds < 0 || seconds > 59) return Number.NaN;
  const wholeMs = minuteMs + seconds * 1000;
  const rest = secondsAt + 2;
  if (rest === to) return wholeMs;
  if (bytes[rest] === DOT) return wholeMs + fractionAt(bytes, rest + 1, to);
  return spaced || to - rest !== 3 ? Number.NaN : wholeMs + fractionAt(bytes, rest, to);
}

/** Where the time of day ends before an offset, and how far that is ahead of UTC: in milliseconds, or as the name of a zone from `nameAt` on. */
interface OffsetSuffix {
  readonly end: number;
  /** NaN where a zone is named. */
  readonly offsetMs: number;
  readonly nameAt: number;
}

const isSign = (byte: number | undefined) => byte === PLUS || byte === MINUS;
const isDigit = (byte = 0) => byte >= ZERO && byte <= NINE;
const isLetter = (byte = 0) => (byte >= UPPER_A && byte <= UPPER_Z) || (byte >= LOWER_A && byte <= LOWER_Z);

function withoutSpaces(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && bytes[end - 1] === SPACE) end -= 1;
  return end;
}

/** Whether a date and the beginning of a time are in bytes[from, to), or a time of day. */
function hasTime(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] === COLON || bytes[at] === SPACE || bytes[at] === UPPER_T) return true;
  return false;
}

/** AM or PM, in any case. */
function isMeridiem(bytes: Buffer, from: number, to: number): boolean {
  const [first, second] = [(bytes[from] ?? 0) | LOWER_CASE, (bytes[from + 1] ?? 0) | LOWER_CASE];
  return to - from === 2 && second === LOWER_M && (first === LOWER_A || first === LOWER_P);
}

/** A name behind a time: " US/Eastern", " EST", "UTC". */
function namedSuffix(bytes: Buffer, from: number, to: number): OffsetSuffix | null {
  let at = to;
  while (at > from && bytes[at - 1] !== SPACE) at -= 1;
  // Without a space, letters that follow a digit.
  if (!isLetter(bytes[at])) for (at = to; at > from && isLetter(bytes[at - 1]); ) at -= 1;
  const end = withoutSpaces(bytes, from, at);
  // "p.m." is no name.
  const isName = at < to && isLetter(bytes[at]) && bytes[to - 1] !== DOT && !isMeridiem(bytes, at, to);
  return isName && isDigit(bytes[end - 1]) && hasTime(bytes, from, end) ? { end, offsetMs: Number.NaN, nameAt: at } : null;
}

/** +01:00, +0100 or +01 behind a time, " GMT" or " UTC" before it or not; null for anything else. */
function numericSuffix(bytes: Buffer, from: number, to: number): OffsetSuffix | null {
  const isSpaced = isSign(bytes[to - 6]) && bytes[to - 3] === COLON;
  const at = isSpaced ? to - 6 : isSign(bytes[to - 5]) ? to - 5 : isSign(bytes[to - 3]) ? to - 3 : from;
  if (at <= from) return null;
  const hours = digitsAt(bytes, at + 1, 2);
  const minutes = at === to - 3 ? 0 : digitsAt(bytes, to - 2, 2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return null;
  // Dates end alike: 2024-01-08, 20240108-08:00.
  if ((at === to - 3 || bytes[at] === MINUS) && !hasTime(bytes, from, at)) return null;
  const offsetMs = (hours * HOUR_MS + minutes * MINUTE_MS) * (bytes[at] === MINUS ? -1 : 1);
  const before = isLetter(bytes[at - 1]) && /^(GMT|UTC)$/.test(bytes.toString("latin1", at - 3, at)) ? at - 3 : at;
  const end = withoutSpaces(bytes, from, before);
  // Etc/GMT-14 is a name, and 14 hours ahead.
  return isDigit(bytes[end - 1]) ? { end, offsetMs, nameAt: -1 } : null;
}

/**
 * The offset at the end of a time: Z, +01:00, +0100, +01, " GMT+0100", with the name of a zone in brackets behind it or not, or only
 * the name: " UTC", " US/Eastern". Null when there is none.
 */
export function offsetSuffix(bytes: Buffer, from: number, to: number): OffsetSuffix | null {
  const last = bytes[to - 1];
  if (last === CLOSE_BRACKET) {
    const open = bytes.subarray(from, to).indexOf(OPEN_BRACKET);
    return open < 0 ? null : offsetSuffix(bytes, from, from + open);
  }
  if (last === UPPER_Z) {
    const end = withoutSpaces(bytes, from, to - 1);
    if (isDigit(bytes[end - 1])) return { end, offsetMs: 0, nameAt: -1 };
  }
  return numericSuffix(bytes, from, to) ?? namedSuffix(bytes, from, to);
}

/** Whether a text ends with an offset, as a time does. */
export function hasOffset(text: string): boolean {
  const bytes = Buffer.from(text);
  return offsetSuffix(bytes, 0, bytes.length) !== null;
}

/** The units of Unix times. */
const EPOCH_UNITS = ["s", "ms", "us", "ns"] as const;
export type EpochUnit = (typeof EPOCH_UNITS)[number];

/** 1971-01-01 in seconds. The instants from then on to the year 2969 have other numbers in each unit. */
const FIRST_S = 31_536_000;
/** Against floating-point noise. */
const NOISE_MS = 0.0005;

/** The unit of the first of some Unix times that is one. Seconds where none is. */
export function epochUnitOf(texts: readonly (string | undefined)[]): EpochUnit {
  const value = texts.map(Number).find((number) => number >= FIRST_S) ?? FIRST_S;
  return EPOCH_UNITS.find((_, power) => value < FIRST_S * 1_000 ** (power + 1)) ?? "ns";
}

/** Unix milliseconds of a Unix time, rounded down. */
export function epochAt(bytes: Buffer, from: number, to: number, unit: EpochUnit): number {
  const value = numberAt(bytes, from, to);
  if (unit === "us") return Math.floor(value / 1e3);
  if (unit === "ns") return Math.floor(value / 1e6 + NOISE_MS);
  return unit === "ms" ? Math.floor(value) : Math.floor(value * 1e3 + NOISE_MS);
}
