import { Fault } from "#lib/fault";
import { fileRoute, type NamedFile } from "#lib/http/file";
import { dateOf, type FileId, readFileId, viewText } from "#lib/market/file-id";
import { maxAgeOf } from "#lib/market/klines-at";
import { requireHistory } from "#lib/market/oldest";
import type { Call } from "#lib/market/question";
import { findListing, suggestNear } from "#lib/market/tickers";
import { SECOND_MS } from "#lib/units";
import { requireSource } from "../files/answer";
import { file } from "./declaration";

/** The file of an id. @throws Fault unknown_file, also for a file of an instrument that the caller may not read; not_in_plan, service_unavailable */
async function openFile(call: Call<{ readonly id: string }>): Promise<NamedFile> {
  const id = readFileId(call.query.id);
  const listing = id && findListing(call, id.ticker);
  if (id === undefined) throw gone();
  if (listing === undefined) throw gone(meantId(call, id));
  const { type, ticker, date, start, revision, asOf } = id;
  const source = requireSource(call, type);
  // A month has no day in its id, and a day of 30 February is none.
  if (dateOf(start, source.period) !== date) throw gone();
  if (asOf !== undefined && asOf * SECOND_MS > call.nowMs) throw gone();
  requireHistory(call, start * SECOND_MS, "id");
  const opened = await source.open(listing, id, call);
  if (opened === undefined) throw gone();
  const lasting = revision !== undefined || (asOf !== undefined && maxAgeOf(call, asOf) > 0);
  return { ...opened, name: `${ticker}-${source.rowsName}-${date}${viewText(id)}`, lasting };
}

/** The id with the ticker that was probably meant. One with a revision was copied from a list, and fits no other ticker. */
function meantId(call: Call<{ readonly id: string }>, { type, ticker, revision }: FileId): string | undefined {
  const meant = revision === undefined ? suggestNear(call, ticker) : undefined;
  return meant && call.query.id.replace(`${type}-${ticker}-`, `${type}-${meant}-`);
}

function gone(suggestion?: string): Fault {
  return new Fault("unknown_file", {
    detail: "There is no such file now. List the files again.",
    ...(suggestion !== undefined && { parameter: "id", suggestion }),
  });
}

export const handler = fileRoute(file, openFile);
