import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { ingestState } from "#lib/market/ingest-state";

export const GET = route(operations.ingestState, ingestState);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
