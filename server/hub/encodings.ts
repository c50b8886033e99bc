import { Encoder } from "@msgpack/msgpack";
import type { ServerMessage, StreamEncoding } from "#lib/contract/stream";

/** A message as it is sent: JSON text, or MessagePack. */
export type Payload = string | Uint8Array;

/** One way to write messages. */
interface Writer {
  write(message: ServerMessage): Payload;
  /** Length of what it wrote, bytes. */
  bytes(payload: Payload): number;
  /** Bytes that the field `merged` adds to a record, so that nothing is written only to learn its length. */
  mergedBytes(merged: number): number;
}

/** Numbers keep their exact value: integers stay integers, and every other number is a float of 64 bits. Absent fields are left out, as in JSON. */
const encoder = new Encoder({ ignoreUndefined: true });

const MERGED_KEY_BYTES = 1 + "merged".length;

/** Length of a positive integer in MessagePack. */
function integerBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x100) return 2;
  return value < 0x10000 ? 3 : 5;
}

/** The encodings of the streams. */
export const WRITERS: Readonly<Record<StreamEncoding, Writer>> = {
  json: {
    write: (message) => JSON.stringify(message),
    bytes: (text) => Buffer.byteLength(text as string),
    mergedBytes: (merged) => (merged > 0 ? `,"merged":${merged}`.length : 0),
  },
  msgpack: {
    write: (message) => encoder.encode(message),
    bytes: ({ length }) => length,
    mergedBytes: (merged) => (merged > 0 ? MERGED_KEY_BYTES + integerBytes(merged) : 0),
  },
};
