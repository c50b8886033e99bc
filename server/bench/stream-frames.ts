/** Kinds of WebSocket frames (RFC 6455, 5.2). */
export const TEXT = 1;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** Frames up to this are given whole always: control frames, and the pings of Engine.IO. */
const SMALL_MAX_BYTES = 125;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const WHOLE_MAX_BYTES = 16_777_216;

/** A frame as a client sends it: masked, with zeros, which leave the payload as it is. */
export function clientFrame(opcode: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.byteLength(payload);
  if (bytes > 65_535) throw new Error(`a client frame of ${bytes} bytes`);
  const head = bytes <= SMALL_MAX_BYTES ? [bytes | 0x80] : [LENGTH_16 | 0x80, bytes >> 8, bytes & 0xff];
  return Buffer.concat([Buffer.from([opcode | 0x80, ...head, 0, 0, 0, 0]), Buffer.from(payload)]);
}

/** Takes a frame; the payload is `bytes` of `buffer` from `at`. Undefined: it was skipped, since it came in pieces. */
export type TakeFrame = (opcode: number, bytes: number, buffer: Buffer | undefined, at: number) => void;

/** Finds the frames in what one server sends, and looks at no payload: a client has to cost less than the server. */
export class FrameReader {
  /** True: frames that come in pieces are put together. False: they are counted and skipped. */
  whole = true;
  readonly #take: TakeFrame;
  /** The beginning of a frame whose end has not come. */
  #rest: Buffer | undefined;
  /** Bytes that are still to come of a frame that was counted already. */
  #skip = 0;

  constructor(take: TakeFrame) {
    this.#take = take;
  }

  /** Takes what came; the chunk may be written over afterwards. */
  read(chunk: Buffer): void {
    const piece = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = Math.min(this.#skip, piece.length);
    this.#skip -= at;
    while (at < piece.length) {
      const end = this.#frame(piece, at);
      if (end === undefined) {
        this.#rest = Buffer.from(piece.subarray(at));
        return;
      }
      this.#skip = Math.max(0, end - piece.length);
      at = end;
    }
  }

  /** Takes the frame at `at`; gives its end, which may be yet to come, or undefined to wait for it. */
  #frame(piece: Buffer, at: number): number | undefined {
    const left = piece.length - at;
    if (left < 2) return undefined;
    const opcode = (piece[at] ?? 0) & 0x0f;
    let bytes = piece[at + 1] ?? 0;
    let head = 2;
    if (bytes === LENGTH_16) {
      if (left < 4) return undefined;
      head = 4;
      bytes = piece.readUInt16BE(at + 2);
    } else if (bytes === LENGTH_64) {
      if (left < 10) return undefined;
      head = 10;
      bytes = Number(piece.readBigUInt64BE(at + 2));
    }
    if (head + bytes <= left) this.#take(opcode, bytes, piece, at + head);
    else if (this.whole || bytes <= SMALL_MAX_BYTES) {
      if (bytes > WHOLE_MAX_BYTES) throw new Error(`a frame of ${bytes} bytes`);
      return undefined;
    } else this.#take(opcode, bytes, undefined, 0);
    return at + head + bytes;
  }
}
