/** FIX 4.4 on the wire: fields `tag=value` that end with SOH, between BeginString and BodyLength, and CheckSum. */

const SOH = 0x01;
const EQUALS = 0x3d;
const BEGIN = "8=FIX.4.4\u00019=";
/** Where a message may begin. */
const START = Buffer.from("8=FIX.");
/** The longest message: a list of all securities of a broker has some hundred thousand bytes. */
const MESSAGE_MAX_BYTES = 1_048_576;
const LENGTH_MAX_DIGITS = 7;
/** `10=000` and SOH. */
const TRAILER_BYTES = 7;
/** The most entries of a repeating group that are read. */
const GROUP_MAX_COUNT = 20_000;

/** A tag and its value. */
export type Field = readonly [tag: number, value: string];

/** A message whose length and checksum are right. Fields are those of the body, MsgType first, in their order. */
export interface FixMessage {
  readonly type: string;
  readonly fields: readonly Field[];
}

/** What the bytes hold: a message, or bytes that are none, whose text may be a part of a secret. */
type Piece = { readonly message: FixMessage } | "garbled";

function sumOf(bytes: Buffer, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += bytes[at] ?? 0;
  return sum % 256;
}

const textOf = (bytes: Buffer, from: number, to: number) => bytes.toString("latin1", from, to);
const checksum = (sum: number) => String(sum).padStart(3, "0");

/** The checksum that a trailer states: `10=` and three digits; null where there is none. */
function statedSum(bytes: Buffer, at: number): number | null {
  const [hundreds, tens, ones] = [3, 4, 5].map((place) => (bytes[at + place] ?? 0) - 48) as [number, number, number];
  const isTrailer = bytes[at] === 0x31 && bytes[at + 1] === 0x30 && bytes[at + 2] === EQUALS && bytes[at + 6] === SOH;
  return isTrailer && [hundreds, tens, ones].every((digit) => digit >= 0 && digit <= 9)
    ? hundreds * 100 + tens * 10 + ones
    : null;
}

/** The value of the first field with this tag. */
export const fieldOf = ({ fields }: FixMessage, tag: number): string | undefined => fields.find(([one]) => one === tag)?.[1];

/** The body as fields; undefined when one has no tag. */
function fieldsOf(body: string): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  while (at < body.length) {
    let tag = 0;
    let equals = at;
    for (; body.charCodeAt(equals) !== EQUALS; equals += 1) {
      const digit = body.charCodeAt(equals) - 48;
      // Also where the body ends without one.
      if (!(digit >= 0 && digit <= 9)) return undefined;
      tag = tag * 10 + digit;
    }
    const end = body.indexOf("\u0001", equals);
    if (end < 0 || tag === 0) return undefined;
    fields.push([tag, body.slice(equals + 1, end)]);
    at = end + 1;
  }
  return fields;
}

/** Splits bytes into messages, however they are cut into chunks. What is garbled is skipped, as FIX wants it. */
export function createSplitter() {
  let rest: Buffer = Buffer.alloc(0);
  let isGarbled = false;

  /** The bytes from `from` that can be read: where the next ones are, and what they hold; null when more must come. */
  function read(bytes: Buffer, from: number): { readonly next: number; readonly piece: Piece } | null {
    const skipTo = (next: number) => ({ next, piece: "garbled" as const });
    /** The next place where a message may begin; what remains without one may be the first bytes of it. */
    const skip = () => {
      const start = bytes.indexOf(START, from + 1);
      return skipTo(start > 0 ? start : Math.max(from + 1, bytes.length - START.length + 1));
    };
    const seen = textOf(bytes, from, from + BEGIN.length);
    if (seen !== BEGIN) return BEGIN.startsWith(seen) ? null : skip();
    const lengthAt = from + BEGIN.length;
    const lengthEnd = bytes.indexOf(SOH, lengthAt);
    if (lengthEnd < 0) return bytes.length - lengthAt <= LENGTH_MAX_DIGITS ? null : skip();
    const digits = textOf(bytes, lengthAt, lengthEnd);
    if (!/^\d{1,7}$/.test(digits) || Number(digits) > MESSAGE_MAX_BYTES) return skip();
    const bodyEnd = lengthEnd + 1 + Number(digits);
    const end = bodyEnd + TRAILER_BYTES;
    if (end > bytes.length) return null;
    const stated = statedSum(bytes, bodyEnd);
    if (stated === null) return skip();
    if (stated !== sumOf(bytes, from, bodyEnd)) return skipTo(end);
    const fields = fieldsOf(textOf(bytes, lengthEnd + 1, bodyEnd));
    const [first] = fields ?? [];
    if (fields === undefined || first?.[0] !== 35) return skipTo(end);
    return { next: end, piece: { message: { type: first[1], fields } } };
  }

  return {
    /** The messages that are whole now. */
    push(chunk: Buffer): Piece[] {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const pieces: Piece[] = [];
      let at = 0;
      while (at < bytes.length) {
        const found = read(bytes, at);
        if (found === null) break;
        at = found.next;
        // Bytes that are no message count once, in however many pieces they come.
        if (found.piece !== "garbled" || !isGarbled) pieces.push(found.piece);
        isGarbled = found.piece === "garbled";
      }
      // A copy, so that a few bytes do not keep a large chunk.
      rest = Buffer.from(bytes.subarray(at));
      return pieces;
    },
  };
}

/** A message as bytes. `fields` begin with MsgType (35); SOH cannot be part of a value. */
export function encode(fields: readonly Field[]): Buffer {
  const body = fields.map(([tag, value]) => `${tag}=${value.replaceAll("\u0001", " ")}\u0001`).join("");
  const start = Buffer.from(`${BEGIN}${Buffer.byteLength(body)}\u0001${body}`);
  return Buffer.concat([start, Buffer.from(`10=${checksum(sumOf(start, 0, start.length))}\u0001`)]);
}

/**
 * The entries of a repeating group: each begins with the tag that follows the count. The last one also has the fields after the
 * group, whose tags are others.
 * @returns undefined when the number of entries is not the one that was announced, or too large
 */
export function groupOf({ fields }: FixMessage, countTag: number): ReadonlyMap<number, string>[] | undefined {
  const at = fields.findIndex(([tag]) => tag === countTag);
  const count = Number(fields[at]?.[1]);
  if (at < 0 || !Number.isInteger(count) || count > GROUP_MAX_COUNT) return undefined;
  const first = fields[at + 1]?.[0];
  const entries: Map<number, string>[] = [];
  let entry = new Map<number, string>();
  if (count > 0)
    for (let next = at + 1; next < fields.length; next += 1) {
      const [tag, value] = fields[next] ?? [0, ""];
      if (tag === first) {
        entry = new Map();
        entries.push(entry);
      }
      entry.set(tag, value);
    }
  return entries.length === count ? entries : undefined;
}
