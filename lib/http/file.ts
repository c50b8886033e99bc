import { createGunzip } from "node:zlib";
import { accepts, heldTag, tagIn } from "#lib/content-encoding";
import { PARQUET_EXTENSION, PARQUET_MEDIA } from "#lib/contract/files";
import { FILE_ROWS_PER_COST_UNIT } from "#lib/contract/limits";
import type { Operation, Parameters, QueryOf } from "#lib/contract/operation";
import { Fault } from "#lib/fault";
import type { OpenFile, ReadableBytes } from "#lib/market/file-source";
import { DAY_S } from "#lib/units";
import { CSV_TYPE, csvEtag, wantedFormat } from "./csv";
import { type Exchange, headerOf } from "./exchange";
import { takeUnits } from "./guards";
import type { Answer } from "./respond";
import { cachingOf, type GuardedCall, guardedRoute, type OperationHandler } from "./route";

/** What is read of a file at once, and held for a reader who takes it slowly. */
const PART_BYTES = 65_536;
/** The bytes of an id with a revision never change. */
const LASTING_MAX_AGE_S = 365 * DAY_S;
const RANGE = /^bytes=(?<first>\d{1,15})?-(?<last>\d{1,15})?$/;

/** A file to be sent. */
export interface NamedFile extends OpenFile {
  /** A name for it without an extension. */
  readonly name: string;
  /** Whether its address always means these bytes. */
  readonly lasting: boolean;
}

/** Bytes [from, to) of a file. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The part of a file that a Range header asks for; undefined where the whole is to be sent: without the header, and for several ranges
 * or one that is malformed, which a server may ignore (RFC 9110, 14.2). An empty range begins at the end.
 */
export function rangeOf(header: string | null, size: number): ByteRange | undefined {
  const { first, last } = RANGE.exec(header ?? "")?.groups ?? {};
  if (first === undefined && last === undefined) return undefined;
  if (first === undefined) return { from: Number(last) === 0 ? size : Math.max(0, size - Number(last)), to: size };
  if (last !== undefined && Number(last) < Number(first)) return undefined;
  return { from: Number(first), to: last === undefined ? size : Math.min(size, Number(last) + 1) };
}

/** The units that so many rows cost, or the share of them that a range is. */
export function unitsOf(rows: number, share: number): number {
  return Math.max(1, Math.ceil((rows * share) / FILE_ROWS_PER_COST_UNIT));
}

/** The rest of a range after its first part, one part at a time. */
async function* partsOf(bytes: ReadableBytes, first: Uint8Array, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  yield first;
  for (let at = from + first.length; at < to; ) {
    const part = await bytes.read(at, Math.min(to, at + PART_BYTES));
    if (part.length === 0) throw new Error(`a file ended after ${at} of ${to} bytes`);
    yield part;
    at += part.length;
  }
}

type DownloadCall = GuardedCall<{ readonly id: string; readonly format: "parquet" | "csv" | undefined }>;

/** Charges for rows beyond those that every request has paid for. @throws Fault quota_exceeded, rate_limited */
async function charge(call: DownloadCall, units: number, exchange: Exchange): Promise<void> {
  if (units > 1) await takeUnits(units - 1, call.principal, exchange, call);
}

/** The headers of a file in one form, and whether the caller has these bytes already. */
function headersOf({ lasting }: NamedFile, etag: string, exchange: Exchange) {
  const held = heldTag(etag, headerOf(exchange, "if-none-match"), headerOf(exchange, "accept-encoding"));
  return {
    isHeld: held !== undefined,
    own: {
      "cache-control": cachingOf(lasting ? LASTING_MAX_AGE_S : 0),
      // The same address answers each key from its own venue.
      vary: "Origin, Accept, Authorization",
      etag: held ?? etag,
    },
  };
}

const attached = ({ name }: NamedFile, extension: string) => `attachment; filename="${name}.${extension}"`;

async function sendParquet(file: NamedFile, call: DownloadCall, exchange: Exchange): Promise<Answer> {
  const { headers, method } = exchange;
  const { parquet, sha256, rows } = file;
  const { size } = parquet;
  const etag = `"${sha256}"`;
  const { own, isHeld } = headersOf(file, etag, exchange);
  if (isHeld) return { status: 304, headers: Object.assign(headers, own), body: null };
  const ifRange = headerOf(exchange, "if-range");
  const isWhole = method === "HEAD" || (ifRange !== null && ifRange !== etag);
  const asked = isWhole ? undefined : rangeOf(headerOf(exchange, "range"), size);
  if (asked !== undefined && asked.from >= size) {
    headers["content-range"] = `bytes */${size}`;
    throw new Fault("range_not_satisfiable", { detail: `The file has ${size} bytes.`, max: size });
  }
  const range = asked ?? { from: 0, to: size };
  const length = range.to - range.from;
  const shown = {
    ...own,
    "content-type": PARQUET_MEDIA,
    "content-disposition": attached(file, PARQUET_EXTENSION),
    "accept-ranges": "bytes",
    "content-length": String(length),
    ...(asked !== undefined && { "content-range": `bytes ${range.from}-${range.to - 1}/${size}` }),
  };
  if (method === "HEAD") return { status: 200, headers: Object.assign(headers, shown), body: null };
  await charge(call, unitsOf(rows, length / size), exchange);
  // Before the status is sent, so that what cannot be read is refused.
  const first = await parquet.read(range.from, Math.min(range.to, range.from + PART_BYTES));
  const body = { parts: partsOf(parquet, first, range) };
  return { status: asked === undefined ? 200 : 206, headers: Object.assign(headers, shown), body };
}

async function sendCsv(file: NamedFile, call: DownloadCall, exchange: Exchange): Promise<Answer> {
  const { headers, method } = exchange;
  const etag = csvEtag(`"${file.sha256}"`);
  const { own, isHeld } = headersOf(file, etag, exchange);
  if (isHeld) return { status: 304, headers: Object.assign(headers, own), body: null };
  const isZipped = accepts("gzip", headerOf(exchange, "accept-encoding"));
  const zipped = { "content-encoding": "gzip", etag: tagIn(etag, "gzip") };
  const shown = { ...own, "content-type": CSV_TYPE, "content-disposition": attached(file, "csv"), ...(isZipped && zipped) };
  if (method === "HEAD") return { status: 200, headers: Object.assign(headers, shown), body: null };
  await charge(call, unitsOf(file.rows, 1), exchange);
  const csv = await file.csv();
  const first = await csv.read(0, Math.min(csv.size, PART_BYTES));
  const parts = partsOf(csv, first, { from: 0, to: csv.size });
  Object.assign(headers, shown, isZipped && { "content-length": String(csv.size) });
  return { status: 200, headers, body: isZipped ? { parts } : { parts, encoder: createGunzip() } };
}

/**
 * Makes the handler of an operation that answers a file: as Parquet, of which a range can be asked for, or as CSV. At most a part of a
 * file is in memory for a reader, however slow.
 */
export function fileRoute<P extends Parameters>(
  operation: Operation<P>,
  open: (call: DownloadCall) => Promise<NamedFile>,
): OperationHandler {
  return guardedRoute(operation, async (guarded: GuardedCall<QueryOf<P>>, exchange) => {
    const call = guarded as unknown as DownloadCall;
    const send = wantedFormat(call.query.format, false, exchange) === "csv" ? sendCsv : sendParquet;
    return send(await open(call), call, exchange);
  });
}
