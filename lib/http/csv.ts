import Negotiator from "negotiator";
import { CSV_MEDIA, type CsvTable, LINES_MEDIA } from "#lib/contract/csv";
import { type Reply, SUCCESS_HEAD, SUCCESS_TAIL } from "#lib/market/question";
import { type Exchange, headerOf } from "./exchange";
import type { Answer } from "./respond";

/** `header=present` says that the first row holds the names (RFC 4180). */
export const CSV_TYPE = `${CSV_MEDIA}; charset=utf-8; header=present`;
const JSON_MEDIA = "application/json";
/** A longer Accept header is not read, so that it cannot take much time. */
const ACCEPT_MAX_CHARACTERS = 1_000;
const MAY_MEAN_OTHERS = /text\/(csv|\*)|ndjson/i;
/** Marks validators of CSV. Raise the number when the same data are written in another way. */
const ETAG_MARK = ".csv1";

/** How the items of an answer are written other than in the envelope. */
export type ItemsFormat = "csv" | "lines";

/**
 * How the caller wants the items; undefined for the envelope in JSON. `format` decides, without it the Accept header.
 * @param lines whether they are offered as NDJSON
 */
export function wantedFormat(
  format: unknown,
  lines: boolean,
  exchange: Pick<Exchange, "given" | "request">,
): ItemsFormat | undefined {
  if (format !== undefined) return format === "csv" ? "csv" : undefined;
  const accept = headerOf(exchange, "accept");
  if (accept === null || accept.length > ACCEPT_MAX_CHARACTERS || !MAY_MEAN_OTHERS.test(accept)) return undefined;
  const offered = lines ? [JSON_MEDIA, CSV_MEDIA, LINES_MEDIA] : [JSON_MEDIA, CSV_MEDIA];
  const preferred = new Negotiator({ headers: { accept } }).mediaType(offered);
  if (preferred === CSV_MEDIA) return "csv";
  return preferred === LINES_MEDIA ? "lines" : undefined;
}

/** Rows written at once: some 20 kB, a third of a millisecond. An answer with more is sent in parts. */
const PART_ROWS_COUNT = 200;

interface Tabular {
  readonly items: readonly object[];
  /** Set where there is another page. */
  readonly next_from?: number | null;
  /** The same for pages that are turned by a cursor. */
  readonly next_cursor?: string | null;
}

function dataOf(reply: Reply): Tabular {
  if (!("body" in reply)) return reply.data as Tabular;
  const { body, data } = reply;
  if (data !== undefined) return data() as Tabular;
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  return JSON.parse(text.slice(SUCCESS_HEAD.length, -SUCCESS_TAIL.length));
}

/** The validator of the CSV, which differs from that of the JSON because the bytes do. What is offered as lines has none. */
export function csvEtag(etag: string): string {
  return `${etag.slice(0, -1)}${ETAG_MARK}"`;
}

/** The query of the next page; undefined where there is none. */
function nextQuery({ next_from, next_cursor }: Tabular, queryText: string): URLSearchParams | undefined {
  const query = new URLSearchParams(queryText);
  if (typeof next_from === "number") query.set("from", String(next_from));
  else if (typeof next_cursor === "string") query.set("cursor", next_cursor);
  else return undefined;
  return query;
}

/** Items as NDJSON, in parts. */
function* lineParts(items: readonly object[]): Iterable<string> {
  for (let start = 0; start < items.length; start += PART_ROWS_COUNT)
    yield items
      .slice(start, start + PART_ROWS_COUNT)
      .map((item) => `${JSON.stringify(item)}\n`)
      .join("");
}

/**
 * The items of a reply as CSV or as lines, in parts where there are many; also sets the type, and the link to the next page if there is one.
 * @param base URL of the service without a trailing slash; empty for a link without a host
 */
export function itemsBody(
  reply: Reply,
  format: ItemsFormat,
  { table, base }: { readonly table: CsvTable; readonly base: string },
  exchange: Exchange,
): NonNullable<Answer["body"]> {
  const data = dataOf(reply);
  const { headers, path, queryText } = exchange;
  headers["content-type"] = format === "csv" ? CSV_TYPE : LINES_MEDIA;
  const query = nextQuery(data, queryText);
  if (query !== undefined) headers.link = `<${base}${path}?${query}>; rel="next"`;
  const { items } = data;
  if (items.length > PART_ROWS_COUNT) return { parts: format === "csv" ? table.parts(items, PART_ROWS_COUNT) : lineParts(items) };
  return format === "csv" ? table.text(items) : [...lineParts(items)].join("");
}
