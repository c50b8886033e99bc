import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { ingestTicks } from "#lib/market/ingest";

export const POST = route(operations.ingestTicks, ingestTicks);
export { unserved as DELETE, unserved as GET, unserved as OPTIONS, unserved as PATCH, unserved as PUT } from "#lib/http/api";
