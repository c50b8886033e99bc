import { ImportFailure } from "./failure";

/** Rows of market data are shorter; a file without line ends is not text. */
const LINE_MAX_BYTES = 16_384;

const NEWLINE = 10;
const RETURN = 13;
const MARK = [0xef, 0xbb, 0xbf] as const;
const MARK_LITTLE_ENDIAN = [0xff, 0xfe];

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

/** Converts UTF-16 text, as MetaTrader saves it with a byte order mark, to UTF-8; passes anything else through. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (decoder === undefined)
      decoder = MARK_LITTLE_ENDIAN.every((byte, index) => chunk[index] === byte) ? new TextDecoder("utf-16le") : null;
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
}
