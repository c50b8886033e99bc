import { isUtf8 } from "node:buffer";
import { Decoder } from "@msgpack/msgpack";

/** Levels of lists and maps that are read; messages of the contract have four. */
const LEVELS_MAX_COUNT = 16;

type Kind = "scalar" | "string" | "list" | "map";

/** First bytes of values of a fixed length, and how many bytes follow (MessagePack specification, formats). */
const SCALARS: ReadonlyMap<number, number> = new Map([
  [0xc0, 0],
  [0xc2, 0],
  [0xc3, 0],
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
]);
/** First bytes of values with a length, and how many bytes the length has. */
const SIZED: ReadonlyMap<number, readonly [Kind, number]> = new Map([
  [0xd9, ["string", 1]],
  [0xda, ["string", 2]],
  [0xdb, ["string", 4]],
  [0xdc, ["list", 2]],
  [0xdd, ["list", 4]],
  [0xde, ["map", 2]],
  [0xdf, ["map", 4]],
]);

/** The value that begins at a place: its kind, its length (bytes, items or fields), and where its content begins. */
interface Head {
  readonly kind: Kind;
  readonly length: number;
  readonly content: number;
}

/** @throws Error unless there is the beginning of a value that JSON has too */
function headAt(bytes: Buffer, at: number): Head {
  const first = bytes[at];
  const content = at + 1;
  if (first === undefined) throw new Error("it breaks off");
  if (first < 0x80 || first >= 0xe0) return { kind: "scalar", length: 0, content };
  if (first < 0x90) return { kind: "map", length: first & 0x0f, content };
  if (first < 0xa0) return { kind: "list", length: first & 0x0f, content };
  if (first < 0xc0) return { kind: "string", length: first & 0x1f, content };
  const scalarBytes = SCALARS.get(first);
  if (scalarBytes !== undefined) return { kind: "scalar", length: scalarBytes, content };
  const sized = SIZED.get(first);
  if (sized === undefined) throw new Error("it has bytes or an extension type, which messages do not have");
  const [kind, lengthBytes] = sized;
  if (content + lengthBytes > bytes.length) throw new Error("it breaks off");
  return { kind, length: bytes.readUIntBE(content, lengthBytes), content: content + lengthBytes };
}

/** True for UTF-8. Most texts are short and ASCII: a call of the runtime for each would take longer than all the rest. */
function isText(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if ((bytes[at] ?? 0) >= 0x80) return isUtf8(bytes.subarray(from, to));
  return true;
}

/**
 * Checks that the bytes are one value, before anything is made of it: the decoder reserves memory for as many items as a list
 * says it has, at every level.
 * @throws Error with the reason
 */
function requireOneValue(bytes: Buffer): void {
  /** Values that are still missing, at each open level. */
  const missing = [1];
  let at = 0;
  for (let left = missing.pop(); left !== undefined; left = missing.pop()) {
    if (left === 0) continue;
    missing.push(left - 1);
    const { kind, length, content } = headAt(bytes, at);
    const values = kind === "map" ? 2 * length : length;
    // A value takes at least a byte.
    if (values > bytes.length - content) throw new Error("it breaks off");
    at = content;
    if (kind === "list" || kind === "map") {
      if (missing.push(values) > LEVELS_MAX_COUNT + 1) throw new Error(`it has more than ${LEVELS_MAX_COUNT} levels`);
    } else {
      at += length;
      if (kind === "string" && !isText(bytes, content, at)) throw new Error("a text is not UTF-8");
    }
  }
  if (at < bytes.length) throw new Error("more bytes follow it");
}

const decoder = new Decoder({
  // Its cache of field names makes names that differ dear, and they are the client's to choose.
  keyDecoder: null,
  mapKeyConverter(key) {
    if (typeof key !== "string") throw new Error("the name of a field is not a text");
    return key;
  },
});

/**
 * The value of a message in MessagePack, made of what JSON has: no bytes, no extension types, and texts as names of fields.
 * @throws Error with the reason, to be put behind a colon
 */
export function unpack(bytes: Buffer): unknown {
  requireOneValue(bytes);
  return decoder.decode(bytes);
}
