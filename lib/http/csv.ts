import Negotiator from "negotiator";
import { CSV_MEDIA, type CsvTable } from "#lib/contract/csv";
import { type Reply, SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";
import { type Exchange, headerOf } from "./exchange";
import type { Answer } from "./respond";

/** `header=present` says that the first row holds the names (RFC 4180). */
const CSV_TYPE = `${CSV_MEDIA}; charset=utf-8; header=present`;
const JSON_MEDIA = "application/json";
/** A longer Accept header is not read, so that it cannot take much time. */
const ACCEPT_MAX_CHARACTERS = 1_000;
const MAY_MEAN_CSV = /text\/(csv|\*)/i;
/** Marks validators of CSV. Raise the number when the same data are written in another way. */
const ETAG_MARK = ".csv1";

/** Whether the caller wants CSV: `format` decides, without it the Accept header. JSON where that prefers neither. */
export function wantsCsv(format: unknown, exchange: Pick<Exchange, "given" | "request">): boolean {
  if (format !== undefined) return format === "csv";
  const accept = headerOf(exchange, "accept");
  if (accept === null || accept.length > ACCEPT_MAX_CHARACTERS || !MAY_MEAN_CSV.test(accept)) return false;
  return new Negotiator({ headers: { accept } }).mediaType([JSON_MEDIA, CSV_MEDIA]) === CSV_MEDIA;
}

/** Rows written at once: some 20 kB, a third of a millisecond. An answer with more is sent in parts. */
const PART_ROWS_COUNT = 200;

interface Tabular {
  readonly items: readonly object[];
  /** Set where there is another page. */
  readonly next_from?: number | null;
}

function dataOf(reply: Reply): Tabular {
  if (!("body" in reply)) return reply.data as Tabular;
  const { body, data } = reply;
  if (data !== undefined) return data() as Tabular;
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  return JSON.parse(text.slice(SUCCESS_HEAD.length, -SUCCESS_TAIL.length));
}

/** The validator of the CSV, which differs from that of the JSON because the bytes do. */
export function csvEtag(etag: string): string {
  return `${etag.slice(0, -1)}${ETAG_MARK}"`;
}

/**
 * The body of a reply as CSV, in parts where it is long; also sets its type, and the link to the next page if there is one.
 * @param base URL of the service without a trailing slash; empty for a link without a host
 */
export function csvBody(reply: Reply, table: CsvTable, exchange: Exchange, base: string): NonNullable<Answer["body"]> {
  const { items, next_from } = dataOf(reply);
  const { headers, path, queryText } = exchange;
  headers["content-type"] = CSV_TYPE;
  if (typeof next_from === "number") {
    const query = new URLSearchParams(queryText);
    query.set("from", String(next_from));
    headers.link = `<${base}${path}?${query}>; rel="next"`;
  }
  return items.length > PART_ROWS_COUNT ? { parts: table.parts(items, PART_ROWS_COUNT) } : table.text(items);
}
