import { ImportFailure } from "./failure";
import { cell, linesOf } from "./table";

/** A row of market data is shorter. */
const ROW_MAX_BYTES = 16_384;
/** Rows that show what the values of a list are. */
const SHAPE_ROWS = 32;

/** Length of a byte order mark. */
const MARK_BYTES = 3;

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125];
const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);
const isOpening = (byte: number) => byte === OPEN_LIST || byte === OPEN_OBJECT;

/** The first bytes of a text without byte order mark and white space. */
function trimmed(beginning: Buffer): Buffer {
  let at = beginning.readUIntBE(0, Math.min(MARK_BYTES, beginning.length) || 1) === 0xefbbbf ? MARK_BYTES : 0;
  while (isSpace(beginning[at] ?? -1)) at += 1;
  return beginning.subarray(at);
}

/** Whether a text begins as a list, or as objects line by line. */
export function isJson(beginning: Buffer): boolean {
  return beginning.length > 0 && isOpening(trimmed(beginning)[0] ?? -1);
}

type JsonRow = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Cuts chunks into the rows of a list, or of lines, without keeping more than one row. */
function createRowCutter(onRow: (row: JsonRow) => void): { push(chunk: Buffer): void; end(): void } {
  let kept = Buffer.alloc(0);
  let rows = 0;
  let depth = 0;
  /** Depth at which rows begin: 1 in a list of rows; unknown until the first bytes. */
  let base: 0 | 1 | undefined;
  let quoted = false;
  let escaped = false;

  function hand(text: string): void {
    rows += 1;
    let row: unknown;
    try {
      row = JSON.parse(text);
    } catch {
      throw new ImportFailure(`row ${rows} is not valid JSON: ${text.slice(0, 80)}`);
    }
    if (Object.values(row as object).some((value) => typeof value === "object" && value !== null))
      throw new ImportFailure(`row ${rows} of its JSON has lists or objects in it: save its rows as a list of flat ones`);
    onRow(row as JsonRow);
  }

  /** The place after the byte, and where the current row begins. */
  function step(byte: number, at: number, start: number, bytes: Buffer): number {
    if (quoted) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) quoted = false;
      return start;
    }
    if (byte === QUOTE && depth > (base ?? 0)) quoted = true;
    else if (isOpening(byte)) {
      depth += 1;
      return depth === (base as number) + 1 ? at : start;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === base) hand(bytes.toString("utf8", start, at + 1));
      if (depth < 0) throw new ImportFailure(`its JSON ends before it begins after row ${rows}`);
    } else if (depth <= (base as number) && byte !== COMMA && !isSpace(byte))
      throw new ImportFailure(`its JSON has something else than a row after row ${rows}`);
    return start;
  }

  function begin(bytes: Buffer): Buffer | null {
    if (bytes.length <= MARK_BYTES) return null;
    const text = trimmed(bytes);
    let second = 1;
    while (isSpace(text[second] ?? -1)) second += 1;
    if (text[second] === undefined) return null;
    base = text[0] === OPEN_LIST && (isOpening(text[second] as number) || text[second] === CLOSE_LIST) ? 1 : 0;
    return text;
  }

  return {
    push(chunk) {
      let bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
      let from = kept.length;
      if (base === undefined) {
        const text = begin(bytes);
        if (text === null) {
          kept = Buffer.from(bytes);
          return;
        }
        [bytes, from] = [text, 0];
      }
      let start = 0;
      for (let at = from; at < bytes.length; at += 1) start = step(bytes[at] as number, at, start, bytes);
      // A copy, because the caller may reuse the memory of the chunk.
      kept = depth > (base as number) ? Buffer.from(bytes.subarray(start)) : Buffer.alloc(0);
      if (kept.length > ROW_MAX_BYTES)
        throw new ImportFailure(`row ${rows + 1} of its JSON is longer than ${ROW_MAX_BYTES} bytes: it is not a list of rows`);
    },
    end() {
      const isEmpty = /^\s*(\[\s*\])?\s*$/.test(kept.toString("latin1"));
      if (depth > 0 || (base === undefined && !isEmpty))
        throw new ImportFailure(`its JSON is cut off after row ${rows}: copy or download the file again`);
    },
  };
}

/** Whether the third and fourth value are a high and a low of the second and fifth. */
const isKline = ([, open, high, low, close]: readonly number[]) =>
  (high as number) >= Math.max(open as number, close as number) && (low as number) <= Math.min(open as number, close as number);

/**
 * What the values of rows without names are: those of dukascopy-node, whose ticks have the ask first, and of most tools, whose
 * klines are time, open, high, low, close, volume.
 */
function namesOf(rows: readonly (readonly number[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const volumes = ["askVolume", "bidVolume"].slice(0, Math.max(0, columns - 3));
  if (columns > 5 || (columns === 5 && rows.every(isKline)))
    return ["timestamp", "open", "high", "low", "close", ...(columns > 5 ? ["volume"] : [])];
  const isBidFirst = rows.every(([, first = 0, second = 0]) => first <= second) && rows.some(([, a = 0, b = 0]) => a < b);
  return isBidFirst ? ["timestamp", "bid", "ask"] : ["timestamp", "askPrice", "bidPrice", ...volumes];
}

/** The keys of the first rows, or the names of their values. */
function columnsOf(rows: readonly JsonRow[]): { names: readonly string[]; keys: readonly (string | number)[] } {
  const [first = []] = rows;
  if (!Array.isArray(first)) {
    const keys = Object.keys(first);
    return { names: keys, keys };
  }
  const names = namesOf(rows.map((row) => Object.values(row).map(Number)));
  return { names, keys: names.map((_, index) => index) };
}

/**
 * Rows of JSON as text: a header line with their keys, then a line for each row. JSON is a list of objects, a list of lists, or one
 * of them on each line. Keeps no more than a few rows.
 * @throws ImportFailure when it is not such JSON, or cut off
 */
export async function* jsonText(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rows: JsonRow[] = [];
  let columns: ReturnType<typeof columnsOf> | undefined;
  const cutter = createRowCutter((row) => void rows.push(row));
  const written = (value: unknown) => (value === null || value === undefined ? "" : cell(String(value)));

  function* flush(): Generator<Buffer> {
    if (rows.length === 0) return;
    if (columns === undefined) {
      columns = columnsOf(rows.slice(0, SHAPE_ROWS));
      yield* linesOf([columns.names.map(cell).join(",")]);
    }
    const { keys } = columns;
    yield* linesOf(rows.map((row) => keys.map((key) => written((row as Record<string | number, unknown>)[key])).join(",")));
    rows = [];
  }

  for await (const chunk of bytes) {
    cutter.push(chunk);
    if (columns !== undefined || rows.length >= SHAPE_ROWS) yield* flush();
  }
  // What was read before a cut is handed on first.
  yield* flush();
  cutter.end();
}
