/** A library for MessagePack, for example `@msgpack/msgpack`. It decodes integers to numbers, not to bigints. */
export interface MessagePack {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** Writes a message. Without absent fields, as in JSON: libraries would write them, each in another way. */
export function pack({ encode }: MessagePack, message: object): Uint8Array {
  return encode(JSON.parse(JSON.stringify(message)));
}

/** The value of a message; undefined for one that cannot be read. */
export function unpack({ decode }: MessagePack, bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}
