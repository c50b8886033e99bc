/**
 * Decodes the LZMA "alone" format of Dukascopy's .bi5 files (13 bytes of header, then one range-coded stream).
 * Written after the LZMA specification by Igor Pavlov (public domain, 7-zip.org/sdk.html), with a limit on the output size.
 */

const HEADER_BYTES = 13;
const TOP = 2 ** 24;
const MODEL_BITS = 11;
const MODEL_START = 1024;
const MOVE_BITS = 5;
const STATES_COUNT = 12;
const POSITIONS_MAX_COUNT = 16;
const MATCH_MIN_BYTES = 2;
const END_MARKER = 0xffffffff;

/** What is wrong with a compressed stream. */
export class LzmaError extends Error {
  override readonly name = "LzmaError";
}

function models(count: number): Uint16Array {
  return new Uint16Array(count).fill(MODEL_START);
}

/** Reads bits from the range-coded part. A class, because its methods are called for every bit and must be cheap. */
class RangeDecoder {
  readonly #bytes: Uint8Array;
  #at = HEADER_BYTES;
  #range = END_MARKER;
  #code = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    if (this.#next() !== 0) throw new LzmaError("the compressed data is damaged");
    for (let count = 0; count < 4; count += 1) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    if (this.#at >= this.#bytes.length) throw new LzmaError("the compressed data ends too early");
    return this.#bytes[this.#at++] as number;
  }

  #refill(): void {
    if (this.#range >= TOP) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  /** Decodes one bit and updates its probability. */
  bit(probabilities: Uint16Array, index: number): 0 | 1 {
    const probability = probabilities[index] as number;
    const bound = (this.#range >>> MODEL_BITS) * probability;
    if (this.#code < bound) {
      this.#range = bound;
      probabilities[index] = probability + ((2 ** MODEL_BITS - probability) >>> MOVE_BITS);
      this.#refill();
      return 0;
    }
    this.#range -= bound;
    this.#code -= bound;
    probabilities[index] = probability - (probability >>> MOVE_BITS);
    this.#refill();
    return 1;
  }

  /** A number of `count` bits with equal probabilities of 0 and 1. */
  directBits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      this.#refill();
      value = value * 2 + bit;
    }
    return value;
  }
}

function tree(decoder: RangeDecoder, probabilities: Uint16Array, offset: number, bits: number): number {
  let node = 1;
  for (let left = bits; left > 0; left -= 1) node = (node << 1) | decoder.bit(probabilities, offset + node);
  return node - (1 << bits);
}

function reverseTree(decoder: RangeDecoder, probabilities: Uint16Array, offset: number, bits: number): number {
  let node = 1;
  let value = 0;
  for (let index = 0; index < bits; index += 1) {
    const bit = decoder.bit(probabilities, offset + node);
    node = (node << 1) | bit;
    value |= bit << index;
  }
  return value;
}

/** Lengths of matches, less MATCH_MIN_BYTES. */
function createLengthDecoder(decoder: RangeDecoder): (position: number) => number {
  const choice = models(2);
  const low = models(POSITIONS_MAX_COUNT << 3);
  const middle = models(POSITIONS_MAX_COUNT << 3);
  const high = models(1 << 8);
  return (position) => {
    if (decoder.bit(choice, 0) === 0) return tree(decoder, low, position << 3, 3);
    if (decoder.bit(choice, 1) === 0) return 8 + tree(decoder, middle, position << 3, 3);
    return 16 + tree(decoder, high, 0, 8);
  };
}

/** Distances of matches, less 1. */
function createDistanceDecoder(decoder: RangeDecoder): (length: number) => number {
  const slots = models(4 << 6);
  const positions = models(1 + 128 - 14);
  const align = models(1 << 4);
  return (length) => {
    const slot = tree(decoder, slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >>> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return base + reverseTree(decoder, positions, base - slot, bits);
    return base + decoder.directBits(bits - 4) * 16 + reverseTree(decoder, align, 0, 4);
  };
}

type Header = ReturnType<typeof readHeader>;

function readHeader(bytes: Uint8Array) {
  if (bytes.length < HEADER_BYTES) throw new LzmaError("too short to be LZMA");
  const properties = bytes[0] as number;
  if (properties >= 9 * 5 * 5) throw new LzmaError("not LZMA");
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const [low, high] = [view.getUint32(5, true), view.getUint32(9, true)];
  return {
    literalContextBits: properties % 9,
    literalPositionBits: Math.floor(properties / 9) % 5,
    positionBits: Math.floor(properties / 45),
    /** Null when the stream ends with a marker instead. */
    size: low === END_MARKER && high === END_MARKER ? null : high * 2 ** 32 + low,
  };
}

/** The bytes decoded so far, which are also the dictionary. */
function createOutput(size: number | null, maxBytes: number) {
  if (size !== null && size > maxBytes) throw new LzmaError(`decodes to ${size} bytes, more than the limit of ${maxBytes}`);
  let bytes = new Uint8Array(size ?? Math.min(maxBytes, 65_536));
  let length = 0;
  return {
    length: () => length,
    full: () => length === size,
    byteBack: (distance: number) => bytes[length - 1 - distance] ?? 0,
    put(byte: number): void {
      if (length === bytes.length) {
        if (length >= maxBytes || length === size) throw new LzmaError(`decodes to more than ${length} bytes`);
        const larger = new Uint8Array(Math.min(maxBytes, length * 2));
        larger.set(bytes);
        bytes = larger;
      }
      bytes[length++] = byte;
    },
    result: () => bytes.subarray(0, length),
  };
}

/** The next literal; after a match, the byte at the last distance selects its probabilities. */
function createLiteralDecoder(decoder: RangeDecoder, { literalContextBits, literalPositionBits }: Header) {
  const literals = models(0x300 << (literalContextBits + literalPositionBits));
  return (length: number, previous: number, matched: number | null): number => {
    const context = ((length & ((1 << literalPositionBits) - 1)) << literalContextBits) + (previous >> (8 - literalContextBits));
    const offset = 0x300 * context;
    let symbol = 1;
    for (let guess = matched ?? 0, follows = matched !== null; symbol < 0x100; guess <<= 1) {
      const guessed = (guess >> 7) & 1;
      const bit = decoder.bit(literals, offset + symbol + (follows ? (1 + guessed) << 8 : 0));
      symbol = (symbol << 1) | bit;
      if (guessed !== bit) follows = false;
    }
    return symbol & 0xff;
  };
}

/**
 * Decodes an LZMA stream.
 * @throws LzmaError when it is damaged, cut off, or would decode to more than `maxBytes`.
 */
export function decodeLzma(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const header = readHeader(bytes);
  const output = createOutput(header.size, maxBytes);
  const decoder = new RangeDecoder(bytes);
  const literal = createLiteralDecoder(decoder, header);
  const matchLength = createLengthDecoder(decoder);
  const repeatLength = createLengthDecoder(decoder);
  const distance = createDistanceDecoder(decoder);
  const [isMatch, isLongRepeat] = [models(STATES_COUNT << 4), models(STATES_COUNT << 4)];
  const [isRepeat, isRepeat0, isRepeat1, isRepeat2] = [
    models(STATES_COUNT),
    models(STATES_COUNT),
    models(STATES_COUNT),
    models(STATES_COUNT),
  ];
  const recent: [number, number, number, number] = [0, 0, 0, 0];
  let state = 0;

  /** Moves a recent distance to the front. */
  function pickRecent(): void {
    const index = decoder.bit(isRepeat1, state) === 0 ? 1 : decoder.bit(isRepeat2, state) === 0 ? 2 : 3;
    recent.unshift(...recent.splice(index, 1));
  }

  /** Number of bytes to copy from recent[0]; null at the end marker. */
  function readMatch(position: number): number | null {
    if (decoder.bit(isRepeat, state) === 0) {
      const length = matchLength(position);
      recent.pop();
      recent.unshift(distance(length));
      state = state < 7 ? 7 : 10;
      return recent[0] === END_MARKER ? null : length + MATCH_MIN_BYTES;
    }
    if (decoder.bit(isRepeat0, state) === 1) pickRecent();
    else if (decoder.bit(isLongRepeat, (state << 4) + position) === 0) {
      state = state < 7 ? 9 : 11;
      return 1;
    }
    const length = repeatLength(position);
    state = state < 7 ? 8 : 11;
    return length + MATCH_MIN_BYTES;
  }

  while (!output.full()) {
    const position = output.length() & ((1 << header.positionBits) - 1);
    if (decoder.bit(isMatch, (state << 4) + position) === 0) {
      const previous = output.length() === 0 ? 0 : output.byteBack(0);
      output.put(literal(output.length(), previous, state >= 7 ? output.byteBack(recent[0]) : null));
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    const count = readMatch(position);
    if (count === null) break;
    if (recent[0] >= output.length()) throw new LzmaError("the compressed data is damaged");
    for (let left = count; left > 0; left -= 1) output.put(output.byteBack(recent[0]));
  }
  if (header.size !== null && !output.full()) throw new LzmaError("the compressed data ends too early");
  return output.result();
}
