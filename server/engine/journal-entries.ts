import { crc32 } from "node:zlib";
import type { Tick } from "#lib/domain/tick";

/**
 * The entries of a journal file, one after the other. Numbers are little-endian, because a price as text takes many times as long:
 *
 * - 4 bytes: the length of what follows the checksum, and 4 bytes: its CRC-32
 * - 2 doubles: the number of the first tick, and when the entry was written, Unix milliseconds
 * - each tick: a byte with the length of its ticker, the ticker in ASCII, and as doubles time, bid, ask and volume, NaN for none
 */
const HEAD_BYTES = 8;
const BEGIN_BYTES = HEAD_BYTES + 16;
const NUMBERS_BYTES = 32;
const FIRST_CAPACITY_BYTES = 16_384;

/** Ticks that were taken one after the other. */
export interface Entry {
  /** The number of the first tick. */
  readonly first: number;
  /** Unix milliseconds at which they were written. */
  readonly atMs: number;
  readonly ticks: readonly Tick[];
}

/** The entry that is written next. Its memory is used again for the one after it. */
export class EntryDraft {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES);
  #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
  #end = BEGIN_BYTES;
  #count = 0;

  /** Number of its ticks. */
  get count(): number {
    return this.#count;
  }

  /** Adds a tick, whose ticker has at most 255 characters, all ASCII. */
  add({ ticker, time_msc, bid, ask, volume }: Tick): void {
    if (this.#end + 1 + ticker.length + NUMBERS_BYTES > this.#bytes.length) this.#grow();
    const view = this.#view;
    let at = this.#end;
    view.setUint8(at, ticker.length);
    at += 1;
    for (let index = 0; index < ticker.length; index += 1) view.setUint8(at + index, ticker.charCodeAt(index));
    at += ticker.length;
    view.setFloat64(at, time_msc, true);
    view.setFloat64(at + 8, bid, true);
    view.setFloat64(at + 16, ask, true);
    view.setFloat64(at + 24, volume ?? Number.NaN, true);
    this.#end = at + NUMBERS_BYTES;
    this.#count += 1;
  }

  /** The bytes of the entry; valid until the draft is changed. @param first the number of its first tick */
  seal(first: number, atMs: number): Buffer {
    const view = this.#view;
    view.setFloat64(HEAD_BYTES, first, true);
    view.setFloat64(HEAD_BYTES + 8, atMs, true);
    view.setUint32(0, this.#end - HEAD_BYTES, true);
    view.setUint32(4, crc32(this.#bytes.subarray(HEAD_BYTES, this.#end)), true);
    return this.#bytes.subarray(0, this.#end);
  }

  /** Begins the next entry. */
  clear(): void {
    this.#end = BEGIN_BYTES;
    this.#count = 0;
  }

  #grow(): void {
    const bytes = Buffer.allocUnsafe(2 * this.#bytes.length);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset);
  }
}

function tickAt(bytes: Buffer, at: number): { readonly tick: Tick; readonly end: number } {
  const from = at + 1 + (bytes[at] ?? 0);
  const volume = bytes.readDoubleLE(from + 24);
  const tick: Tick = {
    ticker: bytes.toString("latin1", at + 1, from),
    time_msc: bytes.readDoubleLE(from),
    bid: bytes.readDoubleLE(from + 8),
    ask: bytes.readDoubleLE(from + 16),
    ...(!Number.isNaN(volume) && { volume }),
  };
  return { tick, end: from + NUMBERS_BYTES };
}

/**
 * The entries of a file in their order, null for a damaged one. What follows a torn one cannot be found: it is the last, also null.
 */
export function* entriesIn(file: Buffer): Generator<Entry | null> {
  let at = 0;
  while (at < file.length) {
    const end = file.length - at < BEGIN_BYTES ? Number.POSITIVE_INFINITY : at + HEAD_BYTES + file.readUInt32LE(at);
    if (end > file.length || end < at + BEGIN_BYTES) {
      yield null;
      return;
    }
    if (crc32(file.subarray(at + HEAD_BYTES, end)) !== file.readUInt32LE(at + 4)) yield null;
    else {
      const ticks: Tick[] = [];
      for (let from = at + BEGIN_BYTES; from < end; ) {
        const read = tickAt(file, from);
        ticks.push(read.tick);
        from = read.end;
      }
      yield { first: file.readDoubleLE(at + HEAD_BYTES), atMs: file.readDoubleLE(at + HEAD_BYTES + 8), ticks };
    }
    at = end;
  }
}
