import type { Source } from "./archives";

/** Bytes that show the encoding of a text. */
const PROBE_BYTES = 4;

/** UTF-16 by its byte order mark, or by the zero in each of the first two characters; null for anything else. */
function utf16Of([a, b, c, d]: Buffer): "utf-16le" | "utf-16be" | null {
  if ((a === 0xff && b === 0xfe) || (a && b === 0 && c && d === 0)) return "utf-16le";
  return (a === 0xfe && b === 0xff) || (a === 0 && b && c === 0 && d) ? "utf-16be" : null;
}

/** Converts UTF-16 text, as MetaTrader and spreadsheets save it, to UTF-8; passes anything else through. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  let begin = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let bytes = chunk;
    if (decoder === undefined) {
      begin = Buffer.concat([begin, chunk]);
      if (begin.length < PROBE_BYTES) continue;
      const encoding = utf16Of(begin);
      decoder = encoding === null ? null : new TextDecoder(encoding);
      bytes = begin;
    }
    yield decoder === null ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }), "utf8");
  }
  if (decoder === undefined && begin.length > 0) yield begin;
}

/** Rows per piece of text. */
const PIECE_ROWS = 8_192;

/** A value as one cell of a line, quoted where it contains a separator. */
export function cell(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replace(/["\r\n]+/g, " ")}"` : value;
}

/**
 * Text of comma-separated lines, for files whose rows are not text: a header line, then a line for each row. Row n is on line
 * n + 1.
 */
export function* linesOf(rows: Iterable<string>): Generator<Buffer> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(row);
    if (lines.length < PIECE_ROWS) continue;
    yield Buffer.from(`${lines.join("\n")}\n`);
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join("\n")}\n`);
}

/** The bytes of a source as readers receive them: text in UTF-8. `onRead` receives how many compressed bytes were read. */
export function contentOf(source: Source, onRead?: (bytes: number) => void): AsyncIterable<Buffer> {
  const chunks = source.open(onRead);
  return /\.bi5$/i.test(source.path) ? chunks : asUtf8(chunks);
}

/** Takes chunks until they have so many bytes, fewer at the end. The rest can be taken from the same iterator. */
export async function takeBytes(chunks: AsyncIterator<Buffer>, bytes: number): Promise<Buffer> {
  const taken: Buffer[] = [];
  for (let size = 0; size < bytes; ) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    // A copy, because the caller of a chunk may reuse its memory.
    taken.push(Buffer.from(value));
    size += value.length;
  }
  return Buffer.concat(taken);
}
