import { operations } from "#lib/contract/operations";
import { route } from "#lib/http/route";
import { latestQuotes } from "#lib/market/latest";

export const GET = route(operations.latestQuotes, latestQuotes);
export { unserved as DELETE, unserved as OPTIONS, unserved as PATCH, unserved as POST, unserved as PUT } from "#lib/http/api";
