import { createHmac, timingSafeEqual } from "node:crypto";

/*
 * A sealed body is a series of frames: the length of its bytes (4 bytes, big-endian), the bytes, and the HMAC-SHA-256 of the
 * request's id, the frame's number and the bytes. An empty frame ends the body. So each frame can be used as soon as it has
 * arrived, and none can be changed, dropped, repeated, moved or taken from another request.
 */
const LENGTH_BYTES = 4;
const MAC_BYTES = 32;
/** Most bytes of one frame; longer chunks are divided. */
const FRAME_MAX_BYTES = 65_536;

interface SealOptions {
  readonly key: Buffer;
  /** Names the request; used once. */
  readonly id: string;
}

function macOf({ key, id }: SealOptions, number: number, bytes: Uint8Array): Buffer {
  return createHmac("sha256", key).update(`${id} ${number} `).update(bytes).digest();
}

/** The frames of a body, one by one as it arrives; a body that breaks off has no last frame. */
export async function* sealBody(body: AsyncIterable<Uint8Array> | null, options: SealOptions): AsyncGenerator<Uint8Array> {
  let number = 0;
  function frame(bytes: Uint8Array): Uint8Array {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    const mac = macOf(options, number, bytes);
    number += 1;
    return Buffer.concat([length, bytes, mac]);
  }
  for await (const chunk of body ?? [])
    for (let at = 0; at < chunk.length; at += FRAME_MAX_BYTES) yield frame(chunk.subarray(at, at + FRAME_MAX_BYTES));
  yield frame(new Uint8Array());
}

/**
 * The bytes of a sealed body, frame by frame; buffers at most one frame.
 * @throws Error when a frame is not the next one of this request, or the last one is missing
 */
export async function* openBody(frames: AsyncIterable<Uint8Array> | null, options: SealOptions): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of frames ?? []) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= LENGTH_BYTES) {
      const length = held.readUInt32BE();
      if (length > FRAME_MAX_BYTES) throw new Error("a frame is too long");
      const end = LENGTH_BYTES + length + MAC_BYTES;
      if (held.length < end) break;
      const bytes = held.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      if (!timingSafeEqual(macOf(options, number, bytes), held.subarray(end - MAC_BYTES, end)))
        throw new Error("a frame is not the next one of this request");
      held = held.subarray(end);
      number += 1;
      if (length === 0) return;
      yield bytes;
    }
  }
  throw new Error("the last frame is missing");
}
