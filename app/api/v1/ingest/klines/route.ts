import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { ingestKlines } from "#lib/market/ingest-klines";

export const POST = route(operations.ingestKlines, ingestKlines);
export { unserved as DELETE, unserved as GET, unserved as OPTIONS, unserved as PATCH, unserved as PUT } from "#lib/http/api";
