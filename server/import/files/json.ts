import { ImportFailure } from "#server/import/failure";
import { cell, linesOf, takeBytes } from "./text";

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

/** An answer of a provider is shorter: it has at most 50,000 klines. */
const ANSWER_MAX_BYTES = 67_108_864;
/** Lists in each other: the latest candles of several instruments are two. */
const ANSWER_MAX_DEPTH = 2;
/** Bytes that show whether a file is an answer. */
const ANSWER_BEGIN_BYTES = 4_096;
/** The beginning of an answer: an object with a list of objects in it, outside of any text. */
const ANSWER_BEGIN = /^\{(?:[^"[\]]|"[^"]*")*\[\s*\{/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Timeframes as OANDA writes them. */
const OANDA_TIMEFRAMES: Readonly<Record<string, string>> = { D: "D1", W: "W1", M: "MN1" };

/** What the rows of an answer have in common. */
type Common = { readonly symbol?: string; readonly timeframe?: string };

function commonOf(answer: Readonly<Record<string, unknown>>, outer: Common): Common {
  const meta = isObject(answer.meta) ? answer.meta : answer;
  const symbol = answer.instrument ?? answer.ticker ?? meta.symbol;
  const { granularity } = answer;
  return {
    ...outer,
    ...(typeof symbol === "string" && { symbol }),
    ...(typeof granularity === "string" && { timeframe: OANDA_TIMEFRAMES[granularity] ?? granularity }),
  };
}

/** Prices of OANDA's candles by side: `bid` and `ask` are objects of o, h, l and c. */
function oandaRow({ time, volume, bid, ask, mid }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!isObject(bid))
    throw new ImportFailure(
      isObject(mid)
        ? "candles of mid prices: Spotwire stores klines of bid prices, ask OANDA for price=BA"
        : "candles of ask prices: Spotwire stores klines of bid prices, ask OANDA for price=BA",
    );
  const prices = isObject(ask)
    ? {
        bid_open: bid.o,
        bid_high: bid.h,
        bid_low: bid.l,
        bid_close: bid.c,
        ask_open: ask.o,
        ask_high: ask.h,
        ask_low: ask.l,
        ask_close: ask.c,
      }
    : { open: bid.o, high: bid.h, low: bid.l, close: bid.c };
  return { time, ...prices, tick_volume: volume };
}

/** Names of the values of Massive's aggregates. */
const MASSIVE_NAMES: Readonly<Record<string, string>> = {
  t: "timestamp",
  o: "open",
  h: "high",
  l: "low",
  c: "close",
  v: "volume",
};

function answerRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (isObject(row.bid) || isObject(row.ask) || isObject(row.mid)) return oandaRow(row);
  if (!("t" in row && "o" in row && "c" in row)) return { ...row };
  return Object.fromEntries(Object.entries(MASSIVE_NAMES).flatMap(([key, name]) => (key in row ? [[name, row[key]]] : [])));
}

/** The rows of an answer of a provider, wherever its list is; candles that are not complete are left out. */
function rowsOfAnswer(answer: Readonly<Record<string, unknown>>, outer: Common, depth = 1): JsonRow[] {
  const common = commonOf(answer, outer);
  const list = Object.values(answer).find((value) => Array.isArray(value) && value.length > 0 && value.every(isObject)) as
    | JsonRow[]
    | undefined;
  return (list ?? []).flatMap((row) => {
    const one = row as Readonly<Record<string, unknown>>;
    if (depth < ANSWER_MAX_DEPTH && Object.values(one).some((value) => Array.isArray(value)))
      return rowsOfAnswer(one, common, depth + 1);
    return one.complete === false ? [] : [{ ...answerRow(one), ...common }];
  });
}

/** @throws ImportFailure when it is no JSON */
function answersIn(text: string): JsonRow[] {
  const parse = (part: string): unknown => {
    try {
      return JSON.parse(part);
    } catch {
      return undefined;
    }
  };
  const whole = parse(text);
  const answers =
    whole === undefined
      ? text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map(parse)
      : [whole];
  return answers.flatMap((answer, index) => {
    if (!isObject(answer))
      throw new ImportFailure(`answer ${index + 1} is not valid JSON, or cut off: copy or download the file again`);
    return rowsOfAnswer(answer, {});
  });
}

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
 * of them on each line, of which no more than a few rows are kept; or the answers of a provider, an object with the list in it.
 * @throws ImportFailure when it is not such JSON, or cut off
 */
export async function* jsonText(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const rest = bytes[Symbol.asyncIterator]();
  const beginning = await takeBytes(rest, ANSWER_BEGIN_BYTES);
  async function* whole(): AsyncGenerator<Buffer> {
    if (beginning.length > 0) yield beginning;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  const isAnswer = ANSWER_BEGIN.test(trimmed(beginning).toString("utf8", 0, ANSWER_BEGIN_BYTES));
  yield* isAnswer ? answerText(whole()) : rowText(whole());
}

/** Writes rows as text: a header line first. */
function createRowWriter() {
  let columns: ReturnType<typeof columnsOf> | undefined;
  const written = (value: unknown) => (value === null || value === undefined ? "" : cell(String(value)));
  return {
    begun: () => columns !== undefined,
    *write(rows: readonly JsonRow[]): Generator<Buffer> {
      if (rows.length === 0) return;
      if (columns === undefined) {
        columns = columnsOf(rows.slice(0, SHAPE_ROWS));
        yield* linesOf([columns.names.map(cell).join(",")]);
      }
      const { keys } = columns;
      yield* linesOf(rows.map((row) => keys.map((key) => written((row as Record<string | number, unknown>)[key])).join(",")));
    },
  };
}

async function* answerText(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > ANSWER_MAX_BYTES)
      throw new ImportFailure(`its JSON is an answer of more than ${ANSWER_MAX_BYTES} bytes: save its rows as a list`);
  }
  yield* createRowWriter().write(answersIn(trimmed(Buffer.concat(chunks)).toString("utf8")));
}

async function* rowText(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rows: JsonRow[] = [];
  const writer = createRowWriter();
  const cutter = createRowCutter((row) => void rows.push(row));

  function* flush(): Generator<Buffer> {
    const ready = rows;
    rows = [];
    yield* writer.write(ready);
  }

  for await (const chunk of bytes) {
    cutter.push(chunk);
    if (writer.begun() || rows.length >= SHAPE_ROWS) yield* flush();
  }
  // What was read before a cut is handed on first.
  yield* flush();
  cutter.end();
}
