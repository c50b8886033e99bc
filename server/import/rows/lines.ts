import { ImportFailure } from "#server/import/failure";

/** Rows of market data are shorter; a file without line ends is not text. */
const LINE_MAX_BYTES = 16_384;

const NEWLINE = 10;
const RETURN = 13;
const MARK = [0xef, 0xbb, 0xbf] as const;

/** Receives one line, bytes[from, to), without its line end; `line` counts from 1. */
type OnLine = (bytes: Buffer, from: number, to: number, line: number) => void;

/** The byte that ends lines, by the first bytes of a file; undefined where more of them are needed. */
function lineEndOf(bytes: Buffer, isWhole: boolean): number | undefined {
  const first = bytes.subarray(0, LINE_MAX_BYTES);
  if (first.includes(NEWLINE)) return NEWLINE;
  if (first.length < LINE_MAX_BYTES && !isWhole) return undefined;
  return first.includes(RETURN) ? RETURN : NEWLINE;
}

/**
 * Splits chunks into lines, copying only lines that span two chunks; a UTF-8 byte order mark is dropped. A line ends with LF, and
 * all returns before it belong to its end: Windows tools write CR LF, and CR CR LF where they convert it twice. In a file that
 * begins with lines but without LF, it ends with CR. Empty lines are counted but not passed on.
 * @throws ImportFailure when a line grows past LINE_MAX_BYTES.
 */
export function createLineCutter(onLine: OnLine): { push(chunk: Buffer): void; end(): void } {
  let rest: Buffer | null = null;
  let line = 0;
  let lineEnd: number | undefined;

  function hand(bytes: Buffer, from: number, to: number): void {
    line += 1;
    const start = line === 1 && MARK.every((byte, index) => bytes[from + index] === byte) ? from + MARK.length : from;
    let end = to;
    while (end > start && bytes[end - 1] === RETURN) end -= 1;
    if (end > start) onLine(bytes, start, end, line);
  }

  function keep(piece: Buffer): void {
    // A copy, because the caller may reuse the memory of the chunk.
    rest = rest === null ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    if (rest.length > LINE_MAX_BYTES)
      throw new ImportFailure(`line ${line + 1} is longer than ${LINE_MAX_BYTES} bytes: this is not a text file of rows`);
  }

  function cut(chunk: Buffer, byte: number): void {
    let from = 0;
    if (rest !== null) {
      const end = chunk.indexOf(byte);
      if (end < 0) {
        keep(chunk);
        return;
      }
      const whole = Buffer.concat([rest, chunk.subarray(0, end)]);
      rest = null;
      hand(whole, 0, whole.length);
      from = end + 1;
    }
    for (let end = chunk.indexOf(byte, from); end >= 0; end = chunk.indexOf(byte, from)) {
      hand(chunk, from, end);
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }

  /** Begins to cut once the first bytes show how lines end. */
  function begin(chunk: Buffer, isWhole: boolean): void {
    const bytes = rest === null ? chunk : Buffer.concat([rest, chunk]);
    lineEnd = lineEndOf(bytes, isWhole);
    rest = lineEnd === undefined ? Buffer.from(bytes) : null;
    if (lineEnd !== undefined) cut(bytes, lineEnd);
  }

  return {
    push(chunk) {
      if (lineEnd === undefined) begin(chunk, false);
      else cut(chunk, lineEnd);
    },
    end() {
      if (lineEnd === undefined) begin(Buffer.alloc(0), true);
      if (rest !== null) hand(rest, 0, rest.length);
      rest = null;
    },
  };
}

/**
 * The lines of a text that are not empty.
 * @param isWhole false for the beginning of a file, whose last line may be cut off: it is left out
 */
export function linesIn(bytes: Buffer, isWhole = true): string[] {
  const lines: string[] = [];
  const cutter = createLineCutter((part, from, to) => void lines.push(part.toString("utf8", from, to)));
  cutter.push(bytes);
  if (isWhole) cutter.end();
  return lines;
}
