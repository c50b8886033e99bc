/** Kinds of WebSocket frames (RFC 6455, 5.2). */
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** Frames up to this size are always returned complete: control frames, and the pings of Engine.IO. */
const SMALL_MAX_BYTES = 125;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const WHOLE_MAX_BYTES = 16_777_216;

/** A client frame: masked with zeros, which do not change the payload. */
export function clientFrame(opcode: number, payload: string | Uint8Array): Buffer {
  const bytes = Buffer.byteLength(payload);
  if (bytes > 65_535) throw new Error(`a client frame of ${bytes} bytes`);
  const head = bytes <= SMALL_MAX_BYTES ? [bytes | 0x80] : [LENGTH_16 | 0x80, bytes >> 8, bytes & 0xff];
  return Buffer.concat([Buffer.from([opcode | 0x80, ...head, 0, 0, 0, 0]), Buffer.from(payload as string)]);
}

/** A text message as the frame of a server, which is not masked. */
export function serverFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x81, length]), payload]);
  if (length < 65_536) return Buffer.concat([Buffer.from([0x81, 126, length >> 8, length & 0xff]), payload]);
  const head = Buffer.alloc(10);
  head.set([0x81, 127]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Receives a frame; the payload is `bytes` of `buffer` from `at`. Undefined: skipped, because it arrived in pieces. */
export type TakeFrame = (opcode: number, bytes: number, buffer: Buffer | undefined, at: number) => void;

/** Bytes of a server's frame in front of its payload. */
export function headBytesOf(payloadBytes: number): number {
  if (payloadBytes <= SMALL_MAX_BYTES) return 2;
  return payloadBytes <= 65_535 ? 4 : 10;
}

/** Finds the frames in the data of one server without reading payloads, so that a client costs less than the server. */
export class FrameReader {
  /** True: frames that arrive in pieces are assembled. False: they are counted and skipped. */
  whole = true;
  readonly #take: TakeFrame;
  /** The beginning of an incomplete frame. */
  #rest: Buffer | undefined;
  /** Missing bytes of a frame that is already counted. */
  #skip = 0;

  constructor(take: TakeFrame) {
    this.#take = take;
  }

  /** Processes a chunk, which may be overwritten afterwards. */
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

  /** Processes the frame at `at`; returns its end, which may be past the data, or undefined to wait for more. */
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
