import { DAY_MS, HOUR_MS } from "#lib/units";
import { ImportFailure, Unsure } from "#server/import/failure";
import { decodeLzma, LzmaError } from "#server/import/files/lzma";
import { dayMs, hasOffset } from "#server/import/rows/bytes";
import {
  emptyRow,
  type Layout,
  type ReaderSettings,
  type Role,
  type RowKind,
  type RowReader,
  type RowSink,
  rolesOf,
} from "#server/import/rows/row";
import { delimited, type Format, type FormatClock, type Head, headed, type Recognition, refuseAsk, UTC_CLOCK } from "./format";

/** Dukascopy's .bi5 files: LZMA of big-endian records; times count from the start of the hour (ticks) or day (klines). */

const TICK_BYTES = 20;
const KLINE_BYTES = 24;
/** The busiest hours have some 100,000 ticks. */
const PACKED_MAX_BYTES = 16_777_216;
const UNPACKED_MAX_BYTES = 67_108_864;
/** Significant digits of a volume, which is a single-precision float. */
const VOLUME_DIGITS = 7;

/** The date in the path or name. Dukascopy's months are zero-based: `EURUSD/2019/01/04/00h_ticks.bi5` is the 4th of February. */
const TICKS_NAME = /(\d{4})[/_](\d\d)[/_](\d\d)[/_](\d\d)h_ticks\.bi5$/i;
const MINUTES_NAME = /(\d{4})[/_](\d\d)[/_](\d\d)[/_](bid|ask)_candles_min_1\.bi5$/i;
const LONGER_NAME = /(bid|ask)_candles_(hour|day)_1\.bi5$/i;

/**
 * The start of the hour or day that the path of a file names.
 * @param january the number of January in paths
 * @returns NaN for a date that does not exist, null when the path has none
 */
export function startInPath(path: string, january: 0 | 1): number | null {
  const ticks = TICKS_NAME.exec(path);
  const found = ticks ?? MINUTES_NAME.exec(path);
  if (found === null) return null;
  const [, year, month, day, hour] = found;
  return dayMs(Number(year), Number(month) - january + 1, Number(day)) + (ticks === null ? 0 : Number(hour) * HOUR_MS);
}

/** @throws Unsure when the path has a date, but it is unknown how its months are counted */
function startOf({ given, path }: Head): number | null {
  if (given.dateMs !== null) return given.dateMs;
  if (startInPath(path, 0) === null) return null;
  if (given.months === null)
    throw new Unsure(
      "the month in its path can be counted from 0, as Dukascopy does (01 is February), or from 1, and these files do not show which: set --months 0 or --months 1",
    );
  const startMs = startInPath(path, given.months);
  return Number.isNaN(startMs) ? null : startMs;
}

type ReadRecord = (view: DataView, at: number) => string | null;

/** Nearly all volumes are decimals of at most seven digits, four of them after the point; printing others is slow. */
function volumeAt(view: DataView, at: number): number {
  const value = view.getFloat32(at);
  const decimal = Math.round(value * 1e4) / 1e4;
  return value < 1e3 && Math.fround(decimal) === value ? decimal : Number(value.toPrecision(VOLUME_DIGITS));
}

function createRecordReader(
  kind: RowKind,
  startMs: number,
  { pointDigits }: ReaderSettings,
  row: ReturnType<typeof emptyRow>,
): ReadRecord {
  const power = Number(`1e${pointDigits ?? 0}`);
  const lengthMs = kind === "ticks" ? HOUR_MS : DAY_MS;
  const priceAt = (view: DataView, at: number) => view.getUint32(at) / power;
  return (view, at) => {
    const offsetMs = view.getUint32(at) * (kind === "ticks" ? 1 : 1000);
    if (offsetMs >= lengthMs)
      return `its time is ${offsetMs} ms after the start, outside the ${kind === "ticks" ? "hour" : "day"}`;
    row.timeMs = startMs + offsetMs;
    if (kind === "ticks") {
      row.ask = priceAt(view, at + 4);
      row.bid = priceAt(view, at + 8);
      row.volume = volumeAt(view, at + 16);
      return row.bid > 0 && row.ask > 0 ? null : "a price of 0";
    }
    row.open = priceAt(view, at + 4);
    row.close = priceAt(view, at + 8);
    row.low = priceAt(view, at + 12);
    row.high = priceAt(view, at + 16);
    row.realVolume = volumeAt(view, at + 20);
    return row.low > 0 ? null : "a price of 0";
  };
}

/** The last file and what it decodes to. A file is read for a sample first, and then for its rows. */
let last: { readonly packed: Buffer; readonly bytes: Uint8Array } | undefined;

/** @throws LzmaError */
function decodeOnce(packed: Buffer): Uint8Array {
  if (last === undefined || !last.packed.equals(packed)) last = { packed, bytes: decodeLzma(packed, UNPACKED_MAX_BYTES) };
  return last.bytes;
}

function createBi5Reader(kind: RowKind, startMs: number, settings: ReaderSettings, sink: RowSink): RowReader {
  const recordBytes = kind === "ticks" ? TICK_BYTES : KLINE_BYTES;
  const row = emptyRow();
  const readRecord = createRecordReader(kind, startMs, settings, row);
  const chunks: Buffer[] = [];
  let size = 0;

  function decode(): Uint8Array {
    try {
      return decodeOnce(Buffer.concat(chunks));
    } catch (error) {
      if (error instanceof Error && error.name === LzmaError.name)
        throw new ImportFailure(`not a readable .bi5 file: ${error.message}`);
      throw error;
    }
  }

  return {
    push(chunk) {
      size += chunk.length;
      if (size > PACKED_MAX_BYTES)
        throw new ImportFailure(`larger than ${PACKED_MAX_BYTES} bytes: not an hour or a day of ticks`);
      chunks.push(Buffer.from(chunk));
    },
    end() {
      // An hour without ticks is an empty file.
      if (size === 0) return;
      const bytes = decode();
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const count = Math.floor(bytes.length / recordBytes);
      for (let index = 0; index < count; index += 1) {
        const reason = readRecord(view, index * recordBytes);
        if (reason === null) sink.row(row, index + 1);
        else sink.malformed?.(index + 1, reason);
      }
      if (count * recordBytes !== bytes.length)
        sink.malformed?.(count + 1, `cut off after ${bytes.length % recordBytes} of ${recordBytes} bytes`);
    },
  };
}

function recognition(head: Head, kind: RowKind): Recognition {
  const isAsk = kind === "klines" && /ask_candles/i.test(head.fileName);
  const startMs = isAsk || head.sizeBytes === 0 ? null : startOf(head);
  const undated = startMs === null && head.sizeBytes > 0;
  return {
    kind,
    layout: null,
    clock: UTC_CLOCK,
    inPoints: true,
    refusal: isAsk
      ? "ask klines: Spotwire stores klines of bid prices, import the BID file"
      : undated
        ? "its path has no valid date (EURUSD/2019/01/04/00h_ticks.bi5): set it with --date 2019-02-04T00"
        : null,
    createReader: (settings, sink) => createBi5Reader(kind, startMs ?? 0, settings, sink),
  };
}

const isBi5 = (head: Head) => head.fileName.endsWith(".bi5");

export const bi5Ticks: Format = {
  id: "bi5-ticks",
  title: "Dukascopy .bi5 ticks",
  recognise: (head) => (isBi5(head) && !head.fileName.includes("candles") ? recognition(head, "ticks") : null),
};

export const bi5Klines: Format = {
  id: "bi5-klines",
  title: "Dukascopy .bi5 candles",
  recognise(head) {
    if (!isBi5(head) || head.fileName.includes("ticks")) return null;
    const longer = LONGER_NAME.exec(head.fileName);
    const found = recognition(head, "klines");
    if (longer === null) return found;
    const timeframe = longer[2] === "hour" ? "H1" : "D1";
    return { ...found, refusal: `klines of ${timeframe} in a .bi5 file are not read: import its BID_candles_min_1.bi5 files` };
  },
};

/** Names of the time column in JForex exports; the part in parentheses is the zone. */
const JFOREX_TIME = /^(gmttime|localtime|eettime|utctime|time\((utc|gmt|eet|local)\))$/;

function jforexClock(name: string, zoned: boolean): FormatClock {
  if (/eet/.test(name)) return { fixed: "EET" };
  if (/local/.test(name) && !zoned) return { detect: { likely: ["UTC"] } };
  return UTC_CLOCK;
}

/**
 * Exports of Dukascopy's JForex platform: `Gmt time,Open,High,Low,Close,Volume` or `Gmt time,Ask,Bid,AskVolume,BidVolume`
 * with `31.01.2020 17:00:00.123`; "Local time" adds its offset; newer versions write `Time (EET)` and `2020.01.31 …`.
 * The volume of klines is in millions.
 */
export const jforex: Format = {
  id: "jforex",
  title: "Dukascopy, JForex export",
  recognise(head) {
    const { separator, names, rows } = headed(head);
    const [time = ""] = names;
    if (!JFOREX_TIME.test(time)) return null;
    const kind = names.includes("bid") ? "ticks" : "klines";
    const own: Record<string, Role | null> = { [time]: "dateTime", ...(kind === "klines" && { volume: "realVolume" as const }) };
    const first = rows[0]?.[0] ?? "";
    const zoned = hasOffset(first.trim());
    const dateStyle = /^\d\d\D/.test(first) ? "dmy" : "ymd";
    const layout: Layout = { kind, separator, headerLines: 1, roles: rolesOf(names, own), dateStyle, zoned };
    return delimited(layout, jforexClock(time, zoned), refuseAsk(head, kind));
  },
};

const NODE_HEADER = /^timestamp,(open,high,low,close(,volume)?|askprice,bidprice(,askvolume,bidvolume)?)$/;
const NODE_TIME = /^\d{12,13}$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * CSV of the dukascopy-node package: `timestamp,open,high,low,close,volume` or
 * `timestamp,askPrice,bidPrice,askVolume,bidVolume`, Unix milliseconds or, on request, UTC in text. Other tools write
 * the same header: what the volumes of klines count, their values say.
 */
export const dukascopyNode: Format = {
  id: "dukascopy-node",
  title: "Dukascopy, dukascopy-node CSV",
  recognise(head) {
    const { separator, names, rows } = headed(head);
    const first = rows[0]?.[0] ?? "";
    if (!NODE_HEADER.test(names.join(",")) || !NODE_TIME.test(first)) return null;
    const kind = names.includes("bidprice") ? "ticks" : "klines";
    const roles = rolesOf(names, { timestamp: /^-?\d+$/.test(first) ? "epoch" : "dateTime" });
    const zoned = first.endsWith("Z");
    const layout: Layout = { kind, separator, headerLines: 1, roles, dateStyle: "ymd", zoned, epochUnit: "ms" };
    return delimited(layout, UTC_CLOCK, refuseAsk(head, kind));
  },
};
