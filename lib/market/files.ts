import { type DataFile, type FileType, files as listOperation } from "#lib/contract/files";
import { FILES_MAX_COUNT } from "#lib/contract/limits";
import type { Listing } from "#lib/domain/instrument";
import { Fault } from "#lib/fault";
import { TIME_MAX_S } from "#lib/history/period";
import { dateOf, readFileId, revisionOfFile } from "./file-id";
import type { FileSource, ListedFile, OpenFile } from "./file-source";
import type { Call, DataReply } from "./question";
import { findListing, requireListings } from "./tickers";

interface FilesQuery {
  readonly ticker: string;
  readonly type: FileType;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

function itemOf(
  type: FileType,
  ticker: string,
  period: FileSource["period"],
  { from, to, complete, made }: ListedFile,
): DataFile {
  const revision = made && revisionOfFile(made.sha256);
  const id = [type, ticker, dateOf(from, period), ...(revision === null ? [] : [revision])].join("-");
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
    url: `${listOperation.path}/${id}`,
  };
}

const RETRY_AFTER_S = 60;

function requireSource({ market }: Call<unknown>, type: FileType): FileSource {
  const source = market.files?.[type];
  if (source !== undefined) return source;
  throw new Fault("service_unavailable", { detail: "This node serves no files.", retry_after: RETRY_AFTER_S });
}

/** The files of a ticker. @throws Fault unknown_ticker, service_unavailable */
export async function listFiles(call: Call<FilesQuery>): Promise<DataReply> {
  const { ticker, type, from = 0, to = TIME_MAX_S } = call.query;
  const [listing] = requireListings(call, [ticker], "ticker") as [Listing];
  const source = requireSource(call, type);
  const range = { from, to: Math.min(to, TIME_MAX_S), limit: FILES_MAX_COUNT + 1 };
  const listed = range.from < range.to ? await source.list(listing, range, call) : [];
  const items = listed.slice(0, FILES_MAX_COUNT).map((file) => itemOf(type, ticker, source.period, file));
  return { data: { next_from: listed[FILES_MAX_COUNT]?.from ?? null, items } };
}

/** A file to be sent. */
export interface NamedFile extends OpenFile {
  /** A name for it without an extension. */
  readonly name: string;
  /** Whether its address always means these bytes. */
  readonly lasting: boolean;
}

/** The file of an id. @throws Fault unknown_file, also for a file of an instrument that the caller may not read; service_unavailable */
export async function openFile(call: Call<{ readonly id: string }>): Promise<NamedFile> {
  const id = readFileId(call.query.id);
  const listing = id && findListing(call, id.ticker);
  if (id === undefined || listing === undefined) throw gone();
  const { type, ticker, date, start, revision } = id;
  const source = requireSource(call, type);
  // A month has no day in its id, and a day of 30 February is none.
  if (dateOf(start, source.period) !== date) throw gone();
  const opened = await source.open(listing, start, revision, call);
  if (opened === undefined) throw gone();
  return { ...opened, name: `${ticker}-${source.rowsName}-${date}`, lasting: revision !== undefined };
}

function gone(): Fault {
  return new Fault("unknown_file", { detail: "There is no such file now. List the files again." });
}
