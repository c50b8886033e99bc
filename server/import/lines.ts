import { ImportFailure } from "./failure";

/** Rows of market data are shorter; a file without line ends is not text. */
const LINE_MAX_BYTES = 16_384;

const NEWLINE = 10;
const RETURN = 13;
const MARK = [0xef, 0xbb, 0xbf] as const;
/** Bytes that show the encoding of a text. */
const PROBE_BYTES = 4;

/** Receives one line, bytes[from, to), without its line end; `line` counts from 1. */
type OnLine = (bytes: Buffer, from: number, to: number, line: number) => void;

/**
 * Splits chunks into lines (LF or CRLF, a UTF-8 byte order mark is dropped), copying only lines that span two chunks.
 * Empty lines are counted but not passed on.
 * @throws ImportFailure when a line grows past LINE_MAX_BYTES.
 */
export function createLineCutter(onLine: OnLine): { push(chunk: Buffer): void; end(): void } {
  let rest: Buffer | null = null;
  let line = 0;

  function hand(bytes: Buffer, from: number, to: number): void {
    line += 1;
    const start = line === 1 && MARK.every((byte, index) => bytes[from + index] === byte) ? from + MARK.length : from;
    const end = to > start && bytes[to - 1] === RETURN ? to - 1 : to;
    if (end > start) onLine(bytes, start, end, line);
  }

  function keep(piece: Buffer): void {
    // A copy, because the caller may reuse the memory of the chunk.
    rest = rest === null ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    if (rest.length > LINE_MAX_BYTES)
      throw new ImportFailure(`line ${line + 1} is longer than ${LINE_MAX_BYTES} bytes: this is not a text file of rows`);
  }

  return {
    push(chunk) {
      let from = 0;
      if (rest !== null) {
        const end = chunk.indexOf(NEWLINE);
        if (end < 0) {
          keep(chunk);
          return;
        }
        const whole = Buffer.concat([rest, chunk.subarray(0, end)]);
        rest = null;
        hand(whole, 0, whole.length);
        from = end + 1;
      }
      for (let end = chunk.indexOf(NEWLINE, from); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        hand(chunk, from, end);
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end() {
      if (rest !== null) hand(rest, 0, rest.length);
      rest = null;
    },
  };
}

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
