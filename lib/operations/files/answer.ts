import { tagOf } from "#lib/content-encoding";
import type { FileType } from "#lib/contract/files";
import { FILES_MAX_COUNT } from "#lib/contract/limits";
import type { QueryOf } from "#lib/contract/operation";
import type { Listing } from "#lib/domain/instrument";
import { TIME_MAX_S } from "#lib/domain/period";
import { Fault } from "#lib/fault";
import { successBody } from "#lib/http/respond";
import { route } from "#lib/http/route";
import { dateOf, revisionOfFile, viewText } from "#lib/market/file-id";
import type { FileSource, FileView, ListedFile } from "#lib/market/file-source";
import { maxAgeOf, requirePast } from "#lib/market/klines-at";
import { requireHistory } from "#lib/market/oldest";
import type { Call, Reply } from "#lib/market/question";
import { requireListings } from "#lib/market/tickers";
import { SECOND_MS } from "#lib/units";
import { type DataFile, FILES_PATH, files } from "./declaration";

function itemOf(
  type: FileType,
  ticker: string,
  period: FileSource["period"],
  view: FileView,
  { from, to, complete, made }: ListedFile,
): DataFile {
  const revision = made && revisionOfFile(made.sha256);
  const id = `${type}-${ticker}-${dateOf(from, period)}${viewText(view)}${revision === null ? "" : `-${revision}`}`;
  return {
    id,
    type,
    ticker,
    from,
    to,
    complete,
    rows: made?.rows ?? null,
    bytes: made?.bytes ?? null,
    sha256: made?.sha256 ?? null,
    revision,
    url: `${FILES_PATH}/${id}`,
  };
}

const RETRY_AFTER_S = 60;

/** The files of a type that a venue has. @throws Fault service_unavailable on a node that serves none */
export function requireSource({ market }: Call<unknown>, type: FileType): FileSource {
  const source = market.files?.[type];
  if (source !== undefined) return source;
  throw new Fault("service_unavailable", { detail: "This node serves no files.", retry_after: RETRY_AFTER_S });
}

/** The files of a ticker. @throws Fault unknown_ticker, not_in_plan, invalid_parameter, service_unavailable */
async function listFiles(call: Call<QueryOf<typeof files.query>>): Promise<Reply> {
  const { ticker, type, from = call.oldestMs / SECOND_MS, to = TIME_MAX_S, price, as_of } = call.query;
  if (as_of !== undefined) requirePast(as_of, call.nowMs);
  const view = { price: price === "bid" ? undefined : price, asOf: as_of };
  const [listing] = requireListings(call, [ticker], "ticker") as [Listing];
  requireHistory(call, from * SECOND_MS, "from");
  requireHistory(call, to * SECOND_MS, "to");
  const source = requireSource(call, type);
  const range = { from, to: Math.min(to, TIME_MAX_S), limit: FILES_MAX_COUNT + 1, ...view };
  const listed = range.from < range.to ? await source.list(listing, range, call) : [];
  // One that begins earlier has older data too.
  const whole = listed.slice(0, FILES_MAX_COUNT).filter((file) => file.from * SECOND_MS >= call.oldestMs);
  const items = whole.map((file) => itemOf(type, ticker, source.period, view, file));
  const echo = { ...(price !== undefined && { price }), ...(as_of !== undefined && { as_of }) };
  const data = { next_from: listed[FILES_MAX_COUNT]?.from ?? null, ...echo, items };
  if (as_of === undefined) return { data };
  const body = successBody(data);
  return { body, data: () => data, lasting: { etag: tagOf(body), maxAgeS: maxAgeOf(call, as_of) } };
}

export const handler = route(files, listFiles);
